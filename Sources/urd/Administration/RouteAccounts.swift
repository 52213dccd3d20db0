import API
import HTTP
import JSON
import Values

extension RouteCommand {
    /// People are known by their mail address rather than by an id.
    func isAccount(_ input: Operation.Input) -> Bool {
        input.name == "account_id" && input.place == .path
    }

    func resolve(_ values: inout JSONObject, _ router: Router) async throws {
        guard let written = values["account_id"]?.string, written.utf8.contains(0x40),
            let finding = API.operations.first(where: { $0.id == "listAccounts" })
        else { return }
        var asked = values.filter { $0.key == "realm" }
        asked["Email"] = .string(written)
        let response = await router.respond(to: finding.request(asked, id: "cli"))
        guard response.status.code < 300 else { throw refusal(response) }
        let answer = try? JSON.parse(response.body)
        guard let id = answer?["items"]?.array?.first?["id"] else {
            throw CommandFailure("nobody has an account with the mail address \(written)")
        }
        values["account_id"] = id
    }

    /// A list of what there is of somebody is empty for an account that there is not as well: who mistyped
    /// an id is told so, as with an address.
    func checkAccount(
        _ values: JSONObject, _ response: Response, _ router: Router
    ) async throws {
        guard operation.inputs.contains(where: isAccount),
            (try? JSON.parse(response.body))?["items"]?.array?.isEmpty == true,
            let finding = API.operations.first(where: { $0.id == "getAccount" })
        else { return }
        let found = await router.respond(
            to: finding.request(
                values.filter { ["realm", "account_id"].contains($0.key) }, id: "cli"))
        guard found.status.code < 300 else { throw refusal(found) }
    }
}
