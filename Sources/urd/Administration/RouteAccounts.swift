import API
import HTTP
import JSON
import Values

extension RouteCommand {
    /// People are known by their mail address or phone number rather than by an id.
    func isAccount(_ input: Operation.Input) -> Bool {
        input.name == "account_id" && input.place == .path
            || ["listEvents", "listFindings"].contains(operation.id) && input.name == "account"
    }

    func resolveAccount(_ values: inout JSONObject, _ requests: AdminRequests) async throws {
        guard let name = operation.inputs.first(where: isAccount)?.name,
            let written = values[name]?.string,
            written.utf8.contains(0x40) || written.utf8.first == 0x2B
        else { return }
        let isPhone = !written.utf8.contains(0x40)
        var asked = values.filter { $0.key == "realm" }
        asked[isPhone ? "Phone" : "Email"] = .string(written)
        let answer = try await requests.read("listAccounts", asked)
        guard let id = answer["items"]?.array?.first?["id"] else {
            throw CommandFailure(
                "No account has the \(isPhone ? "phone number" : "mail address") \(written).")
        }
        values[name] = id
    }

    /// A list of an account's sessions or sign-ins is empty for an id that no account has, too: a mistyped
    /// id is a failure, as a mistyped address is.
    func checkAccount(
        _ values: JSONObject, _ response: Response, _ requests: AdminRequests
    ) async throws {
        guard let name = operation.inputs.first(where: isAccount)?.name, let id = values[name],
            (try? JSON.parse(response.body))?["items"]?.array?.isEmpty == true
        else { return }
        var asked = values.filter { $0.key == "realm" }
        asked["account_id"] = id
        _ = try await requests.read("getAccount", asked)
    }
}
