internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// An event as the feed, webhooks and exports send it: all that `getEvent` shows, and what a receiver needs
/// who sees it without having asked for it.
struct EventEnvelope: Sendable {
    let event: Recorded
    /// Of the log that the position counts in.
    let epoch: Int
    /// What the realm's addresses begin with.
    let issuer: String
    /// Whether opened personal fields are sent. Its caller puts that on record first.
    let showsPersonal: Bool
    /// Whether its fields are left out because they are too long to be sent: `href` shows them.
    var isTruncated = false

    init(_ event: Recorded, epoch: Int, issuer: String, showsPersonal: Bool = false) {
        self.event = event
        self.epoch = epoch
        self.issuer = issuer
        self.showsPersonal = showsPersonal
    }

    var json: JSON {
        var members = JSONObject()
        describe(to: &members)
        return .object(members)
    }

    /// Writes it behind these bytes.
    func write(into output: inout [UInt8], record: [UInt8]? = nil) {
        WrittenMembers.write(into: &output) { describe(to: &$0, record: record) }
    }

    /// Where a reader goes on behind this event.
    var cursor: String { "\(epoch):\(event.position)" }

    /// Where the schema of `data` is.
    var schema: String { issuer + EventSchema.path(of: event.name, revision: event.revision) }

    /// Where a reader with a key for the admin API is shown the whole event.
    var href: String { "\(issuer)/api/admin/realms/\(event.realm)/events/\(event.position)" }

    /// The same without its fields.
    var truncated: EventEnvelope {
        var envelope = self
        envelope.isTruncated = true
        return envelope
    }

    /// What the event's schema describes: open fields, and personal ones that the reader may see.
    var data: JSONObject {
        if isTruncated { return ["truncated": true, "href": .string(href)] }
        return showsPersonal
            ? event.shownFields.merging(event.personalFields(for: .administrators)) { open, _ in
                open
            } : event.shownFields
    }

    var personal: Personal {
        switch event.personal {
        case .none: .none
        case .opened: showsPersonal ? .opened : .sealed
        case .sealed: .sealed
        case .erased: .erased
        case .unreadable: .unreadable
        }
    }

    /// What became of the event's personal fields on the way to this reader.
    enum Personal: String, CaseIterable {
        case none
        case sealed
        /// They stand in `data`, among the open ones.
        case opened
        case erased
        case unreadable
    }

    /// - Parameter record: what is hashed into the event's leaf, where the reader asked for it.
    func describe(to members: inout some Members, record: [UInt8]? = nil) {
        members.add("actor", event.actor)
        members.add("at", event.at.description)
        members.add("client", event.client)
        members.add("command", event.command.description)
        members.add("correlation", event.correlation)
        members.add("cursor", cursor)
        if isTruncated {
            members.add("data", .object([:]))
        } else if showsPersonal {
            members.add("data", .object(data))
        } else {
            let visibility = EventVisibility.of(event.name)
            members.add("data", event.open, where: visibility.isOpen)
        }
        members.add("epoch", Int64(epoch))
        if isTruncated { members.add("href", href) }
        members.add("id", event.id.description)
        members.add("leaf", Base64URL.encode(event.leaf.bytes))
        members.add("personal", personal.rawValue)
        members.add("position", event.position)
        members.add("realm", event.realm.name)
        members.add("record", record.map { String(decoding: $0, as: UTF8.self) })
        members.add("revision", Int64(event.revision))
        members.add("schema", schema)
        members.add("stream", event.stream.description)
        members.add("subject", event.subject?.description)
        if isTruncated { members.add("truncated", .bool(true)) }
        members.add("type", event.name)
        members.add("version", Int64(event.version))
    }

    /// As the OpenAPI document and the schema at `/schemas/events/envelope` describe it.
    static let schema = Schema.named(
        "EventEnvelope",
        .object(
            .required(
                "id", .text(26...26), "Event id, the same on every channel and in every retry."),
            .required("type", .text(1...100), "Event type, such as session.opened."),
            .required("revision", .integer(1...10_000), "Revision of the event type's schema."),
            .required("schema", .text(1...500), "URI of the JSON Schema of `data`."),
            .required("realm", Fields.realm, "Realm of the event."),
            .required(
                "epoch", .integer(0...999_999_999),
                "Epoch of the realm's log: a restore or failover begins another one."),
            .required("position", Fields.position, "Position of the event in the realm's log."),
            .required(
                "cursor", .text(3...25), "Cursor to read on behind this event: epoch and position."),
            .required("at", Fields.time, "Time of the event."),
            .required("stream", Fields.id, "Stream of the event."),
            .required("version", Fields.position, "Version of the event's stream."),
            .optional("subject", Fields.id, "Subject whose key seals the personal fields."),
            .required("command", Fields.id, "Id of the command that appended the event."),
            .required(
                "actor", .text(0...300),
                "Actor that caused the event, such as account:… or client:…."),
            .optional("client", .text(0...300), "Client through which the actor sent the request."),
            .optional(
                "correlation", .text(0...300), "`traceparent` of the request (W3C Trace Context)."),
            .required(
                "leaf", .text(43...43),
                "Leaf hash of the event in the realm's Merkle tree, in base64url."),
            .required("data", .openObject, "Fields of the event, as `schema` describes them."),
            .optional(
                "truncated", .boolean,
                "Whether the fields are left out because they are too long to be sent."),
            .optional("href", .text(1...500), "URL of the complete event, if it is truncated."),
            .required(
                "personal", .oneOf(Personal.allCases.map(\.rawValue)),
                "State of the personal fields, if the event has any.")))

    static let example: JSON = [
        "id": "evt_Xb1cKx3mQ0q0k5yq2G8j7w", "type": .string(SessionEvent.Form.ended.name),
        "revision": 1,
        "schema": "https://id.example.org/schemas/events/session.ended/1", "realm": "acme",
        "epoch": 3, "position": 48_211, "cursor": "3:48211", "at": "2026-11-21T01:23:45.123456Z",
        "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "version": 4,
        "command": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a11",
        "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "leaf": "Xb1cKx3mQ0q0k5yq2G8j72Yb8s3kQ1tqv3rQyJp0n2A",
        "data": ["reason": "administrator"], "personal": "none",
    ]
}
