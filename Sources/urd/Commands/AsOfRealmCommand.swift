import API
import EventSourcing
import HTTP
import JSON
import Values

/// Builds a whole realm as of a moment, and says where to ask it.
struct AsOfRealmCommand: Subcommand {
    static let path = ["as-of", "realm"]
    static let summary = "Build a whole realm as it was at a moment, for lists and SQL"
    static let examples = [
        "urd as-of realm yesterday", "urd as-of realm 2026-05-03T14:05:00Z --list accounts",
    ]
    static let details = """
        It is kept for an hour, two of them in a realm. Analysts of the realm (`urd analyst add`) find the views of the
        schema `analyst` in a schema of its own, with the rows of that moment. With --list its accounts, sessions,
        clients, credentials or passkeys are shown. A moment is a position, a time or a day; a time stands for the last position
        that is not later.
        """
    static let options = [
        RealmOption.option,
        Option.value(
            "list", "what", "Show its accounts, sessions, clients, credentials or passkeys"),
        Option.json,
    ]
    static let operands = [Operand("moment", "A position, a time, a day, or now")]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let list = try call.arguments.value("list").map { text throws(UsageError) in
            guard let operation = Self.lists[text] else {
                throw UsageError(
                    "--list must be one of accounts, clients, credentials, passkeys, sessions")
            }
            return operation
        }
        let moment = try TimeWords.moment(call.arguments.words["moment"]?.first ?? "")
        let realm = try RealmOption(call).realm.name
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            let asked = try await requests.read(
                "createAsOfBuild", ["realm": .string(realm), "moment": .string(moment)])
            guard let id = asked["id"]?.string.flatMap({ UUID($0) }) else {
                throw CommandFailure("the answer names no build")
            }
            let names: JSONObject = ["realm": .string(realm), "build_id": .string(id.description)]
            let made = try await make(id, names, requests, call.console)
            if let list {
                try await show(list, names, requests, call)
            } else {
                show(made, call)
            }
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        return .success
    }

    private static let lists = [
        "accounts": "listAccountsAsOf", "sessions": "listSessionsAsOf",
        "clients": "listClientsAsOf", "passkeys": "listPasskeysAsOf",
        "credentials": "listCredentialsAsOf",
    ]

    /// Here, unless a server is at it already.
    private func make(
        _ id: UUID, _ names: JSONObject, _ requests: AdminRequests, _ console: Console
    ) async throws -> JSON {
        let progress = Progress("as of", unit: "events", on: console)
        let service = AsOfBuildService(requests.store)
        @Sendable func look() async throws -> JSON {
            let build = try await requests.read("getAsOfBuild", names)
            progress.advance(
                to: build["reached"]?.integer ?? 0, of: build["position"]?.integer ?? 0)
            return build
        }
        while true {
            _ = try await service.make(id) { _ = try? await look() }
            let build = try await look()
            switch build["state"]?.string {
            case "ready":
                progress.finish()
                return build
            case "waiting", "running": try await Task.sleep(for: .milliseconds(100))
            default:
                throw CommandFailure(
                    "the realm as of the moment cannot be built: "
                        + (build["fault"]?.string ?? "it was deleted")
                        + (build["missing"]?.integer.map { ": position \($0) is missing" } ?? ""))
            }
        }
    }

    private func show(_ build: JSON, _ call: Invocation) {
        let schema = build["schema"]?.string ?? ""
        var table = Table("what", "rows")
        for (name, rows) in build["rows"]?.object ?? [:] {
            table.add(name, String(rows.integer ?? 0))
        }
        call.console.write(table, json: build, asJSON: call.arguments.has("json"))
        guard !call.arguments.has("json") else { return }
        call.console.write(
            """

            Position \(build["position"]?.integer ?? 0)\(build["at"]?.string.map { ", \($0)" } ?? ""); \
            kept until \(build["expires_at"]?.string ?? "").
            An analyst of the realm asks it in SQL:
                export PGOPTIONS='-c search_path=\(schema)'
                psql postgresql://ANALYST@HOST/DATABASE
            """)
    }

    private func show(
        _ list: String, _ names: JSONObject, _ requests: AdminRequests, _ call: Invocation
    ) async throws {
        var asked = names
        asked["limit"] = 200
        var items: [JSON] = []
        repeat {
            let page = try await requests.read(list, asked)
            items += page["items"]?.array ?? []
            asked["after"] = page["next"]?.string.map { .string($0) }
        } while asked["after"] != nil
        let columns = Set(items.flatMap { ($0.object ?? [:]).map(\.key) }).sorted()
        var table = Table(titles: columns)
        for item in items {
            table.add(
                columns.map { name in
                    switch item[name] {
                    case .string(let text)?: text
                    case let value?: String(decoding: value.canonical(), as: UTF8.self)
                    case nil: ""
                    }
                })
        }
        call.console.write(table, json: .array(items), asJSON: call.arguments.has("json"))
    }
}
