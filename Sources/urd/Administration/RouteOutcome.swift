import EventSourcing
import EventStore
import Identity
import JSON
import Values

/// What a command tells a person after it changed something: the difference, and secrets last.
struct RouteOutcome {
    private let operation: String
    private let realm: RealmID?
    /// What there was before, for the operations whose answer does not show what they changed.
    private let before: JSON
    private let head: Int64

    init(
        _ operation: String, _ values: JSONObject, _ requests: AdminRequests
    ) async throws {
        self.operation = operation
        realm = values["realm"]?.string.flatMap { RealmID($0) }
        switch operation {
        case "setRealmSettings":
            before = try await requests.read("getRealmSettings", values)
            head = 0
        case "logOutAccount":
            var asked = values
            asked["limit"] = 200
            before = try await requests.read("listSessions", asked)
            head = 0
        case "resetTwoFactor":
            before = .null
            head = if let realm { try await requests.store.log.head(of: realm).position } else { 0 }
        default:
            before = .null
            head = 0
        }
    }

    func text(_ answer: JSON, _ requests: AdminRequests) async throws -> String {
        switch operation {
        case "setRealmSettings": return difference(answer)
        case "logOutAccount": return sessionsEnded
        case "resetTwoFactor":
            return try await hasRemoved(answer, requests)
                ? "The authenticator app and the recovery codes were removed."
                : "Nothing changed: the account has no authenticator app."
        default: return table(answer)
        }
    }

    /// `registration: jit_on_otp → off`, a line for each setting that has another value now.
    private func difference(_ after: JSON) -> String {
        let members = (after.object ?? [:]).sorted { $0.key < $1.key }
        let lines = members.compactMap { name, value -> String? in
            let old = before[name] ?? .null
            return old == value ? nil : "\(name): \(Table.cell(old)) → \(Table.cell(value))"
        }
        return lines.isEmpty ? "Nothing changed." : lines.joined(separator: "\n")
    }

    private var sessionsEnded: String {
        let count = before["items"]?.array?.count ?? 0
        if before.nextPage != nil { return "\(count) sessions or more ended." }
        return count == 1 ? "1 session ended." : "\(count) sessions ended."
    }

    /// The operation answers with the account in both cases; the log says what was done.
    private func hasRemoved(_ answer: JSON, _ requests: AdminRequests) async throws -> Bool {
        guard let realm, let id = answer["id"]?.string.flatMap({ UUID($0) }) else { return true }
        let page = try await requests.store.log.page(from: head + 1, limit: 200, in: realm)
        return page.events.contains {
            $0.name == TwoFactorEvent.Form.removed.name
                && $0.open["account"] == .string(id.description)
        }
    }

    /// Secrets that no later answer has.
    private static let secrets = ["client_secret", "key", "register_token", "token"]

    private func table(_ answer: JSON) -> String {
        guard let name = Self.secrets.first(where: { answer[$0]?.string != nil }),
            let secret = answer[name]?.string, var members = answer.object
        else { return Table(of: answer).render(width: Table.width) }
        _ = members.removeValue(forKey: name)
        let rest = Table(of: .object(members)).render(width: Table.width)
        return "\(rest)\n\n\(name), shown once:\n\(secret)"
    }
}
