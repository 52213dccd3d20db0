import API
import JSON

/// Asks the configuration's routes for each realm of some files.
struct ConfigurationRequests: Sendable {
    let files: ConfigurationFiles
    private let requests: AdminRequests
    private let environment: Environment
    private let prunes: Bool

    static let operand = Operand("file", "Configuration in YAML or JSON", count: .rest)
    static let prune = Option.flag(
        "prune", "Remove what a realm has and the file does not, of the kinds that it names")

    init(_ call: Invocation, prunes: Bool = false) async throws {
        files = try ConfigurationFiles(call.arguments.words["file"] ?? [])
        environment = call.environment
        self.prunes = prunes
        requests = try await AdminRequests(call.settings())
    }

    func close() { requests.close() }

    /// The answers of an operation for all realms, in the order of their names.
    func ask(_ operation: String) async throws -> [JSON] {
        var answers: [JSON] = []
        for name in files.realms.keys { answers.append(try await ask(operation, of: name)) }
        return answers
    }

    func ask(_ operation: String, of realm: String, plan: JSON? = nil) async throws -> JSON {
        var values: JSONObject = [
            "realm": .string(realm), "configuration": files.realms[realm] ?? [:],
            "secrets": .object(try files.secrets(of: realm, environment)),
            "prune": .bool(prunes), "file": .string(files.digest),
        ]
        values["plan"] = plan
        do {
            return try await requests.read(operation, values)
        } catch let refusal as RouteRefusal {
            throw CommandFailure("realm \(realm): \(refusal.failure.what)")
        }
    }

    /// Plans for all realms. An error in any of them is an error of all.
    func plans() async throws -> [JSON] {
        let plans = try await ask("planConfiguration")
        try checkErrors(of: plans)
        return plans
    }

    func checkErrors(of answers: [JSON]) throws(CommandFailure) {
        let sentences = answers.flatMap { answer in
            (answer["errors"]?.array ?? []).map {
                files.sentence($0, in: answer["realm"]?.string ?? "")
            }
        }
        guard !sentences.isEmpty else { return }
        throw CommandFailure(
            sentences.joined(separator: "\n"), remedy: "Nothing was changed.")
    }
}

extension JSON {
    /// Whether a plan has something to do.
    var hasChanges: Bool { self["new_realm"] == true || self["changes"]?.array?.isEmpty == false }
}
