import EventSourcing
import HTTP
import HTTPClient

/// Which feed is asked for, where, and with which key.
struct FeedAddress: Sendable {
    let url: String
    private let key: String
    private let query: [(name: String, value: String)]
    private let from: [(name: String, value: String)]

    /// Which server, which realm, which events, and where to begin.
    static let options = [
        Option.value("url", "address", "The server's address; URD_URL otherwise"),
        Option.value("realm", "realm", "The realm; URD_REALM otherwise"),
        Option.value("key-file", "file", "The file of an admin key; URD_ADMIN_KEY otherwise"),
        Option.value(
            "from", "cursor", "Behind which cursor to begin; start for all, now for what comes"),
        Option.value("from-time", "time", "Begin with what happened from this time on"),
        Option.values(
            "type", "type", "Only events of this type, or of all that begin so: account.*"),
        Option.values("not-type", "type", "No events of this type"),
        Option.values("account", "id", "Only events about this account"),
        Option.values("client", "client", "Only events about this client"),
        Option.value("filter", "filter", "Only events that meet this filter"),
        Option.value("to", "readers", "Whose events: services, audit (the default) or internal"),
        Option.value("shard", "part", "One of the parts of all streams: 2/8"),
    ]

    /// - Parameters:
    ///   - path: which of the realm's streams of events.
    ///   - more: what it is asked beside the common options.
    init(
        _ call: Invocation, path: String = "feed", _ more: [(name: String, value: String)] = []
    ) throws {
        let arguments = call.arguments
        guard let base = arguments.value("url") ?? call.environment["URD_URL"] else {
            throw UsageError("--url is missing: which server?")
        }
        guard let realm = arguments.value("realm") ?? call.environment["URD_REALM"],
            let realm = RealmID(realm)
        else { throw UsageError("--realm is missing: whose events?") }
        if let file = arguments.value("key-file") {
            do {
                key = String(try File.text(file).prefix { !$0.isNewline })
            } catch {
                throw CommandFailure("\(error)")
            }
        } else if let given = call.environment["URD_ADMIN_KEY"] {
            key = given
        } else {
            throw UsageError("--key-file is missing, and URD_ADMIN_KEY is not set")
        }
        let end = base.hasSuffix("/") ? String(base.dropLast()) : base
        url = "\(end)/api/admin/realms/\(realm)/\(path)"
        query =
            (arguments.values["type"] ?? []).map { (name: "type", value: $0) }
            + (arguments.values["not-type"] ?? []).map { (name: "not_type", value: $0) }
            + (arguments.values["account"] ?? []).map { (name: "account", value: $0) }
            + (arguments.values["client"] ?? []).map { (name: "client", value: $0) }
            + (arguments.values["filter"] ?? []).map { (name: "filter", value: $0) }
            + (arguments.values["to"] ?? []).map { (name: "to", value: $0) }
            + (arguments.values["shard"] ?? []).map { (name: "shard", value: $0) } + more
        from =
            (arguments.values["from"] ?? []).map { (name: "from", value: $0) }
            + (arguments.values["from-time"] ?? []).map { (name: "from_time", value: $0) }
    }

    /// The stored cursor of a feed takes precedence over the option for the start.
    func request(from cursor: LogCursor?) -> OutgoingRequest {
        var headers: Headers = [
            "Authorization": "Bearer \(key)", "Accept": "application/x-ndjson",
        ]
        if let cursor { headers["Last-Event-ID"] = cursor.description }
        let asked = query + (cursor == nil ? from : [])
        return OutgoingRequest(
            url: asked.isEmpty ? url : "\(url)?\(Form.encode(asked))", headers: headers)
    }
}
