public import EventSourcing
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

    public var name: String
    public var url: String
    public var filter: SubscriptionFilter
    public var order: Order
    public var signature: Signature
    /// Sent along with each message. Their values are secrets: they are sealed in the log.
    public var headers: [String: String]

    public init(
        name: String, url: String, filter: SubscriptionFilter = SubscriptionFilter(),
        order: Order = .stream, signature: Signature = .shared, headers: [String: String] = [:]
    ) {
        self.name = name
        self.url = url
        self.filter = filter
        self.order = order
        self.signature = signature
        self.headers = headers
    }
}

/// Which events a subscription is sent.
public struct SubscriptionFilter: Sendable, Equatable {
    /// Wire names, or what they begin with: `account.*`. Empty: all of the reach.
    public var types: [String]
    /// The kinds of events that come without being named.
    public var reach: EventReach

    public static let typeLimit = 100

    public init(types: [String] = [], reach: EventReach = .services) {
        self.types = types
        self.reach = reach
    }

    /// What is named exactly comes always; a whole group comes as far as the reach allows.
    public func wants(_ type: String) -> Bool {
        if types.contains(type) { return true }
        guard types.isEmpty || types.contains(where: { Self.covers($0, type) }) else {
            return false
        }
        return Self.reaches[type].map { $0.isWithin(reach) } ?? false
    }

    private static func covers(_ group: String, _ type: String) -> Bool {
        group.hasSuffix(".*") && type.utf8.starts(with: group.utf8.dropLast(1))
    }

    private static let reaches: [String: EventReach] = Dictionary(
        EventCatalogue.all.map { ($0.name, $0.reach) }, uniquingKeysWith: { $1 })

    func check() throws(FieldFault) {
        guard types.count <= Self.typeLimit else {
            throw FieldFault("types", .tooMany(limit: Self.typeLimit))
        }
        guard Set(types).count == types.count else { throw FieldFault("types", .duplicate) }
        for (index, type) in types.enumerated() {
            let isKnown =
                Self.reaches[type] != nil
                || type.hasSuffix(".*") && Self.reaches.keys.contains { Self.covers(type, $0) }
            guard isKnown else { throw FieldFault("types", .unsupported, at: index) }
        }
    }
}

extension EventReach {
    fileprivate func isWithin(_ asked: EventReach) -> Bool {
        switch (self, asked) {
        case (.services, _), (.audit, .audit), (.audit, .internal), (.internal, .internal): true
        case (.audit, .services), (.internal, .services), (.internal, .audit): false
        }
    }
}

extension EventReach: CaseIterable {
    public static let allCases: [EventReach] = [.services, .audit, .internal]
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
        try filter.check()
        switch kind {
        case .feed: break
        case .webhook: try checkAddress(mayBeLoopback: mayBeLoopback)
        }
    }

    private func checkAddress(mayBeLoopback: Bool) throws(FieldFault) {
        do throws(FieldFault.Reason) {
            try WebAddressRule.check(url, mayBeLoopback: mayBeLoopback)
        } catch {
            throw FieldFault("url", error)
        }
        guard headers.count <= Self.headerLimit else {
            throw FieldFault("headers", .tooMany(limit: Self.headerLimit))
        }
        for (name, value) in headers { try Self.check(header: name, value) }
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
        guard !isOurs else { throw FieldFault("headers", .reserved) }
        guard name.utf8.count + value.utf8.count <= headerBytes else {
            throw FieldFault("headers", .tooLong(limit: headerBytes))
        }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw FieldFault("headers", .malformed)
        }
    }

    // MARK: - In events

    var fields: JSONObject {
        var fields: JSONObject = [
            "name": .string(name), "types": .texts(filter.types),
            "to": .string(filter.reach.rawValue),
        ]
        // A feed is read: nothing is sent anywhere.
        if !url.isEmpty {
            fields["url"] = .string(url)
            fields["order"] = .string(order.rawValue)
            fields["signature"] = .string(signature.rawValue)
        }
        if !headers.isEmpty {
            fields["header_names"] = .texts(headers.keys.sorted())
            fields["headers"] = .object(
                JSONObject(headers.map { ($0.key, JSON.string($0.value)) }))
        }
        return fields
    }

    init?(_ fields: JSONObject) {
        guard let name = fields["name"]?.string, let types = fields.texts("types"),
            let reach: EventReach = fields.choice("to")
        else { return nil }
        let url = fields["url"]?.string ?? ""
        guard let order: Order = url.isEmpty ? .stream : fields.choice("order"),
            let signature: Signature = url.isEmpty ? .shared : fields.choice("signature")
        else { return nil }
        var headers: [String: String] = [:]
        for (name, value) in fields["headers"]?.object ?? [:] { headers[name] = value.string }
        self.init(
            name: name, url: url, filter: SubscriptionFilter(types: types, reach: reach),
            order: order, signature: signature, headers: headers)
    }

    /// From the open fields alone: without the values of the headers.
    public init?(open fields: JSONObject) {
        self.init(fields)
    }

    static let eventFields: [EventField] = [
        .text("name", "What the administrators call the subscription."),
        .text("url", "Where messages are sent; missing for a feed.").optional,
        .texts("types", "Types of events that are sent, or groups of them; all if it is empty."),
        .choice("to", EventReach.self, "How far events are sent that no type names exactly."),
        .choice("order", Order.self, "In which order events are sent; missing for a feed.").optional,
        .choice("signature", Signature.self, "How messages are signed; missing for a feed.")
            .optional,
        .texts("header_names", "Names of the headers that are sent along.").optional,
        .object(
            "headers", "Headers that are sent along with each message.", .neverLeaves(.sealed)
        ).optional,
    ]
}
