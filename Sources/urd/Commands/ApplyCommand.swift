import JSON

/// Brings realms in line with a configuration file.
struct ApplyCommand: Subcommand {
    static let path = ["apply"]
    static let summary = "Bring realms in line with a configuration file"
    static let examples = ["urd apply urd.yaml", "urd apply urd.yaml --prune --yes"]
    static let details = """
        Shows what changes, and asks on a terminal; elsewhere --yes is needed. All that changes in a realm is one
        commit of its log, by the actor apply: and the file's SHA-256. A file with an error changes nothing.
        """
    static let options = [
        ConfigurationRequests.prune,
        Option.flag("yes", "Apply without asking; needed where there is no terminal to ask on"),
        Option.json,
    ]
    static let operands = [ConfigurationRequests.operand]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let requests = try await ConfigurationRequests(
            call, prunes: call.arguments.has("prune"))
        defer { requests.close() }
        let plans = try await requests.plans()
        let asJSON = call.arguments.has("json")
        if !asJSON { call.console.write(plans.map { PlanText($0).text }.joined(separator: "\n")) }
        let due = plans.filter(\.hasChanges)
        if !due.isEmpty { try confirm(call) }
        var done: [JSON] = []
        for plan in due {
            guard let realm = plan["realm"]?.string else { continue }
            let answer = try await requests.ask("applyConfiguration", of: realm, plan: plan["plan"])
            done.append(answer)
            if !asJSON {
                let count = answer["changes"]?.array?.count ?? 0
                call.console.write(
                    "Realm \(realm): applied (\(count) changes, apply:\(requests.files.digest)).")
            }
        }
        if asJSON {
            call.console.write(["file": .string(requests.files.digest), "realms": .array(done)])
        }
        return .success
    }

    private func confirm(_ call: Invocation) throws {
        if call.arguments.has("yes") { return }
        guard call.console.canAsk else {
            throw UsageError(
                "`urd apply` changes realms: give --yes, since there is no terminal to ask on")
        }
        call.console.prompt("Type yes to apply: ")
        guard call.console.readLine() == "yes" else {
            throw CommandFailure("nothing was changed")
        }
    }
}
