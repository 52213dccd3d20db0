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

    var json: JSON { .object(members) }

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

    private var members: JSONObject {
        var members = JSONObject()
        // By name: so each has its place at the end.
        members["actor"] = .string(event.actor)
        members["at"] = .string(event.at.description)
        members["client"] = event.client.map { .string($0) }
        members["command"] = .string(event.command.description)
        members["correlation"] = event.correlation.map { .string($0) }
        members["cursor"] = .string(cursor)
        members["data"] = .object(isTruncated ? [:] : data)
        members["epoch"] = .integer(Int64(epoch))
        if isTruncated { members["href"] = .string(href) }
        members["id"] = .string(event.id.description)
        members["leaf"] = .string(Base64URL.encode(event.leaf.bytes))
        members["personal"] = .string(personal.rawValue)
        members["position"] = .integer(event.position)
        members["realm"] = .string(event.realm.name)
        members["revision"] = .integer(Int64(event.revision))
        members["schema"] = .string(schema)
        members["stream"] = .string(event.stream.description)
        members["subject"] = event.subject.map { .string($0.description) }
        if isTruncated { members["truncated"] = true }
        members["type"] = .string(event.name)
        members["version"] = .integer(Int64(event.version))
        return members
    }

    /// As the OpenAPI document and the schema at `/schemas/events/envelope` describe it.
    static let shape = Schema.named(
        "EventEnvelope",
        .object(
            .required(
                "id", .text(26...26), "Names the event on every channel and in every retry."),
            .required("type", .text(1...100), "Its wire name, such as session.opened."),
            .required("revision", .integer(1...10_000), "Which shape of its fields this is."),
            .required("schema", .text(1...500), "Address of the JSON Schema of `data`."),
            .required("realm", Fields.realm, "The realm that it happened in."),
            .required(
                "epoch", .integer(0...999_999_999),
                "Epoch of the realm's log: a restore or failover begins another one."),
            .required("position", Fields.position, "Where it stands in the realm's log."),
            .required(
                "cursor", .text(3...25), "Where reading goes on behind it: epoch and position."),
            .required("at", Fields.time, "When it happened."),
            .required("stream", Fields.id, "The stream that it belongs to."),
            .required("version", Fields.position, "Where it stands in its stream."),
            .optional("subject", Fields.id, "Whose key its personal fields are sealed under."),
            .required("command", Fields.id, "The command that made it."),
            .required("actor", .text(0...300), "Who asked for it."),
            .optional("client", .text(0...300), "Through which client."),
            .optional("correlation", .text(0...300), "The trace that it belongs to."),
            .required(
                "leaf", .text(43...43), "Its leaf in the realm's Merkle tree, in base64url."),
            .required("data", .openObject, "Its fields, as `schema` describes them."),
            .optional(
                "truncated", .boolean, "Its fields are left out, for they are too long to be sent."),
            .optional("href", .text(1...500), "Where all of it is shown, where it is truncated."),
            .required(
                "personal", .oneOf(Personal.allCases.map(\.rawValue)),
                "Whether it has personal fields, and what became of them.")))

    static let example: JSON = [
        "id": "evt_Xb1cKx3mQ0q0k5yq2G8j7w", "type": "session.ended", "revision": 1,
        "schema": "https://id.example.org/schemas/events/session.ended/1", "realm": "acme",
        "epoch": 3, "position": 48_211, "cursor": "3:48211", "at": "2026-11-21T01:23:45.123456Z",
        "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "version": 4,
        "command": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a11",
        "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "leaf": "Xb1cKx3mQ0q0k5yq2G8j72Yb8s3kQ1tqv3rQyJp0n2A",
        "data": ["reason": "administrator"], "personal": "none",
    ]
}
