internal import EventSourcing
public import JSON

/// What a subscription sends, where and how.
public struct SubscriptionTerms: Sendable, Equatable {
    public enum Order: String, CaseIterable, Sendable {
        /// In order within a stream: what cannot be delivered holds up its own stream alone.
        case stream
        /// One event after the other: nothing passes an event that cannot be delivered.
        case strict
        /// No order: each event is sent as soon as possible.
        case none
    }

    /// What receivers check signatures with.
    public enum Signature: String, CaseIterable, Sendable {
        /// HMAC-SHA-256 under the shared secret.
        case shared = "v1"
        /// That, and Ed25519, which takes no secret to check.
        case both = "v1a"
    }

    /// What a message says.
    public enum Format: String, CaseIterable, Sendable {
        /// The body of Standard Webhooks, with the envelope of the feed.
        case standard
        /// CloudEvents 1.0 in structured mode.
        case cloudEvents = "cloudevents"
        /// A list of the event's records of OCSF 1.8.
        case ocsf
    }

    public var name: String
    /// The description of the subscription.
    public var description: String?
    public var url: String
    public var filter: SubscriptionFilter
    public var format: Format
    /// Whether personal fields are opened and sent along. Each time is on record.
    public var includesPersonal: Bool
    public var order: Order
    public var signature: Signature
    /// Sent along with each message. Their values are secrets: they are sealed in the log.
    public var headers: [String: String]

    public init(
        name: String, description: String? = nil, url: String,
        filter: SubscriptionFilter = SubscriptionFilter(),
        format: Format = .standard, includesPersonal: Bool = false, order: Order = .stream,
        signature: Signature = .shared, headers: [String: String] = [:]
    ) {
        self.name = name
        self.description = description
        self.url = url
        self.filter = filter
        self.format = format
        self.includesPersonal = includesPersonal
        self.order = order
        self.signature = signature
        self.headers = headers
    }
}

extension SubscriptionTerms {
    public static let headerLimit = 10
    private static let headerBytes = 1024
    private static let owned: Set<String> = [
        "host", "connection", "expect", "upgrade", "te", "trailer", "transfer-encoding",
        "keep-alive", "user-agent", "accept", "urd-replay",
    ]

    /// The address of a host name is checked at every request: DNS can change tomorrow.
    func check(_ kind: Subscription.Kind, mayBeLoopback: Bool = false) throws(FieldFault) {
        do throws(FieldFault.Reason) { try TextRule.label(name, limit: 200) } catch {
            throw FieldFault("name", error)
        }
        if let description {
            do throws(FieldFault.Reason) { try TextRule.label(description, limit: 200) } catch {
                throw FieldFault("description", error)
            }
        }
        try filter.check()
        switch kind {
        case .feed: break
        case .webhook: try checkAddress(mayBeLoopback: mayBeLoopback)
        }
    }

    private func checkAddress(mayBeLoopback: Bool) throws(FieldFault) {
        do throws(FieldFault.Reason) {
            try WebAddressRule.check(url, mayBeLoopback: mayBeLoopback)
            // Other services than the web listen on the ports below.
            let uri = AbsoluteURI(url)
            let usual: UInt16 = uri?.scheme == "http" ? 80 : 443
            guard uri?.port.map({ $0 == usual || $0 >= 1024 }) ?? true else { throw .port }
        } catch {
            throw FieldFault("url", error)
        }
        guard headers.count <= Self.headerLimit else {
            throw FieldFault("headers", .tooMany(limit: Self.headerLimit))
        }
        for (name, value) in headers { try Self.check(header: name, value) }
        // Of two that differ in case alone one would be lost on the way.
        guard Set(headers.keys.map { $0.lowercased() }).count == headers.count else {
            throw FieldFault("headers", .duplicate)
        }
    }

    private static func check(header name: String, _ value: String) throws(FieldFault) {
        let lowered = name.lowercased()
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy {
                TextRule.isLetter($0) || TextRule.isDigit($0) || $0 == 0x2D || $0 == 0x5F
            }
        guard isToken else { throw FieldFault("headers", .malformed) }
        let isOurs =
            owned.contains(lowered)
            || ["webhook-", "content-", "proxy-"].contains { lowered.hasPrefix($0) }
        guard !isOurs else { throw FieldFault("headers", .ours) }
        guard name.utf8.count + value.utf8.count <= headerBytes else {
            throw FieldFault("headers", .tooLong(limit: headerBytes))
        }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw FieldFault("headers", .malformed)
        }
    }

    // MARK: - In events

    /// From the open fields alone: without the values of the headers.
    public init?(open fields: JSONObject) {
        guard let terms = try? Field<Self>.terms.read(fields) else { return nil }
        self = terms
    }

    /// What is sent beside open fields.
    fileprivate enum Include: String, CaseIterable {
        case personal
    }
}

extension Field<SubscriptionTerms> {
    static let terms = mapped(
        .text("name", "Name of the subscription, for administrators."),
        .optional(.text("description", "Description of the subscription.")),
        .unless("", .text("url", "Where messages are sent; missing for a feed.")), .filter,
        .format, .includesPersonal,
        .optional(.choice("order", "In which order events are sent; missing for a feed.")),
        .optional(.choice("signature", "How messages are signed; missing for a feed.")), .headers,
        write: { terms in
            // A feed is read: nothing is sent anywhere.
            let isFeed = terms.url.isEmpty
            return (
                terms.name, terms.description, terms.url, terms.filter, terms.format,
                terms.includesPersonal, isFeed ? nil : terms.order, isFeed ? nil : terms.signature,
                terms.headers
            )
        },
        read: { name, description, url, filter, format, isPersonal, order, signature, headers in
            guard let order = url.isEmpty ? .stream : order,
                let signature = url.isEmpty ? .shared : signature
            else { return nil }
            return SubscriptionTerms(
                name: name, description: description, url: url, filter: filter, format: format,
                includesPersonal: isPersonal, order: order, signature: signature, headers: headers)
        })
}

extension Field<SubscriptionTerms.Format> {
    fileprivate static let format = whereThere(
        .choice("format", "What a message says; standard if it is missing."),
        write: { $0 == .standard ? nil : $0 }, read: { $0 ?? .standard })
}

extension Field<Bool> {
    fileprivate static let includesPersonal = mapped(
        .unless([], .included), write: { $0 ? [.personal] : [] },
        read: { $0.contains(.personal) })
}

extension Field<[SubscriptionTerms.Include]> {
    fileprivate static let included = choices("include", "What is sent beside open fields.")
}

extension Field<[String: String]> {
    fileprivate static let headers = record(
        .unless([], .texts("header_names", "Names of the headers that are sent along.")),
        .unless(
            JSONObject(),
            .object(
                "headers", "Headers that are sent along with each message.", .neverLeaves(.sealed))),
        make: { _, headers in
            headers.reduce(into: [:]) { read, header in read[header.key] = header.value.string }
        },
        take: { headers in
            (headers.keys.sorted(), JSONObject(headers.map { ($0.key, JSON.string($0.value)) }))
        })
}
