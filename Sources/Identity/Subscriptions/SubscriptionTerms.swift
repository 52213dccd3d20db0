internal import EventSourcing
public import JSON

/// What a subscription sends, where and how.
public struct SubscriptionTerms: Sendable, Equatable {
    public enum Order: String, CaseIterable, Sendable {
        /// In order within a stream: what cannot be delivered holds up its own stream alone.
        case stream
        /// One event after the other: nothing passes an event that cannot be delivered.
        case strict
        /// As soon as possible.
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
    /// What it is for.
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

    /// Where a name leads is looked at whenever it is called: it can lead elsewhere tomorrow.
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

    var fields: JSONObject {
        var fields = filter.fields
        fields["name"] = .string(name)
        fields["description"] = description.map { .string($0) }
        // A feed is read: nothing is sent anywhere.
        if !url.isEmpty {
            fields["url"] = .string(url)
            fields["order"] = .string(order.rawValue)
            fields["signature"] = .string(signature.rawValue)
        }
        if format != .standard { fields["format"] = .string(format.rawValue) }
        if includesPersonal { fields["include"] = .texts([Include.personal.rawValue]) }
        if !headers.isEmpty {
            fields["header_names"] = .texts(headers.keys.sorted())
            fields["headers"] = .object(
                JSONObject(headers.map { ($0.key, JSON.string($0.value)) }))
        }
        return fields
    }

    init?(_ fields: JSONObject) {
        guard let name = fields["name"]?.string, let filter = SubscriptionFilter(fields)
        else { return nil }
        let url = fields["url"]?.string ?? ""
        guard let order: Order = url.isEmpty ? .stream : fields.choice("order"),
            let signature: Signature = url.isEmpty ? .shared : fields.choice("signature")
        else { return nil }
        var format = Format.standard
        if fields["format"] != nil {
            guard let known: Format = fields.choice("format") else { return nil }
            format = known
        }
        let included = fields.texts("include") ?? []
        var headers: [String: String] = [:]
        for (name, value) in fields["headers"]?.object ?? [:] { headers[name] = value.string }
        self.init(
            name: name, description: fields["description"]?.string, url: url, filter: filter,
            format: format,
            includesPersonal: included.contains(Include.personal.rawValue), order: order,
            signature: signature, headers: headers)
    }

    /// From the open fields alone: without the values of the headers.
    public init?(open fields: JSONObject) {
        self.init(fields)
    }

    /// What is sent beside open fields.
    private enum Include: String, CaseIterable {
        case personal
    }

    static let eventFields: [EventField] =
        SubscriptionFilter.eventFields + [
            .text("name", "What the administrators call the subscription."),
            .text("description", "What the subscription is for.").optional,
            .text("url", "Where messages are sent; missing for a feed.").optional,
            .choice("format", Format.self, "What a message says; standard if it is missing.")
                .optional,
            .choices("include", Include.self, "What is sent beside open fields.").optional,
            .choice("order", Order.self, "In which order events are sent; missing for a feed.")
                .optional,
            .choice("signature", Signature.self, "How messages are signed; missing for a feed.")
                .optional,
            .texts("header_names", "Names of the headers that are sent along.").optional,
            .object(
                "headers", "Headers that are sent along with each message.", .neverLeaves(.sealed)
            ).optional,
        ]
}
