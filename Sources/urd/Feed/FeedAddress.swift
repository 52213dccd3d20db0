import EventSourcing
import HTTP
import HTTPClient

/// Which feed is asked for, where, and with which key.
struct FeedAddress: Sendable {
    let url: String
    private let key: String
    private let query: [(name: String, value: String)]
    private let from: [(name: String, value: String)]

    init(_ call: Invocation) throws {
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
        url = "\(end)/api/admin/realms/\(realm)/feed"
        query =
            (arguments.values["type"] ?? []).map { (name: "type", value: $0) }
            + (arguments.values["not-type"] ?? []).map { (name: "not_type", value: $0) }
            + (arguments.values["account"] ?? []).map { (name: "account", value: $0) }
            + (arguments.values["client"] ?? []).map { (name: "client", value: $0) }
            + (arguments.values["filter"] ?? []).map { (name: "filter", value: $0) }
            + (arguments.values["to"] ?? []).map { (name: "to", value: $0) }
            + (arguments.values["shard"] ?? []).map { (name: "shard", value: $0) }
        from =
            (arguments.values["from"] ?? []).map { (name: "from", value: $0) }
            + (arguments.values["from-time"] ?? []).map { (name: "from_time", value: $0) }
    }

    /// What is kept of a place goes before where it was to begin.
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
