import Cryptography
import EventSourcing
import JSON
import Postgres
import Threads
import Values

/// Makes a database role that reads one realm.
struct AnalystAdd: Subcommand {
    static let path = ["analyst", "add"]
    static let summary = "Create a database role that reads one realm in SQL"
    static let examples = ["urd analyst add grafana --realm demo"]
    static let details = """
        The role reads the views of the schema `analyst` and nothing else: no other realm, no personal \
        data, nothing that writes. A statement may take 30 seconds, and four connections may be open. \
        Its password is shown once, alone and in an address for tools. docs/analysts/sql.md has the views and questions to begin with.
        """
    static let options = [RealmOption.option, Option.json]
    static let operands = [Operand("name", "Letters a to z, digits and _; the role's name")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let realm = try RealmOption(call).realm.name
        let name = call.arguments.words["name"]?.first ?? ""
        guard AnalystRoles.isName(name) else {
            throw UsageError(
                "'\(name)' cannot be the name of an analyst: begin with a letter and use a to z, 0 to 9 and _; "
                    + "not urd_… or pg_…")
        }
        let address = try call.settings().require(Settings.databaseOwnerURL)
        let password = Base64URL.encode(SecretBytes.random(24).exposedCopy())
        let (place, gaps) = try await AnalystRoles.run(address) { roles in
            let realms = try roles.realms()
            guard realms.contains(realm) else {
                throw CommandFailure.missing(
                    "realm", realm, among: realms, remedy: "`urd realm list` names them.")
            }
            guard try roles.add(name, realm: realm, password: password) else {
                throw CommandFailure(
                    "PostgreSQL has a role '\(name)' already.",
                    remedy: "Choose another name; `urd analyst list` shows those of analysts.")
            }
            return (roles.address(of: name, password: password), try roles.gaps())
        }
        var table = Table("analyst", "realm", "password")
        table.add(name, realm, password)
        let asJSON = call.arguments.has("json")
        call.console.write(
            table,
            json: [
                "analyst": .string(name), "realm": .string(realm), "password": .string(password),
                "address": .string(place),
            ],
            asJSON: asJSON)
        // Below the table, whose cells are broken where they are long.
        if !asJSON { call.console.write("Tools connect to \(place)") }
        if let words = gaps?.words {
            call.console.complain("Take care: \(words.what).\n\(words.mend)")
        }
        return .success
    }
}

extension AnalystRoles {
    static func run<Value: Sendable>(
        _ address: String, _ work: @escaping @Sendable (AnalystRoles) throws -> Value
    ) async throws -> Value {
        try await DedicatedThread.run { try work(AnalystRoles(owner: address)) }
    }
}
