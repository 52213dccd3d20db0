import API
import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Values

/// Tries a policy on past sign-ins and shows what would have become of them.
struct WhatIfCommand: Subcommand {
    static let path = ["what-if"]
    static let summary = "Try a policy on past sign-ins: who would have been refused"
    static let examples = [
        "urd what-if policy.json --from 30d",
        "urd what-if policy.json --from 2026-11-01 --filter 'client eq \"shop\"' --json",
    ]
    static let details = """
        The policy is JSON: docs/analysts/what-if.md has its rules. Nothing before --from is looked at: what it would
        tell is unknown. The same policy on the same part of the log has the same result, byte for byte.
        """
    static let options = [
        RealmOption.option,
        Option.value("from", "moment", "Begin at this position, or behind this time or day"),
        Option.value("to", "moment", "End with this position, time or day; now otherwise"),
        Option.value("filter", "filter", "Count only sign-ins that meet this filter"),
        Option.flag("json", "Write the result as it is"),
    ]
    static let operands = [Operand("policy", "The file with the policy, or - for the input")]
    static let settings = Store.settings

    /// Rows of the table of accounts.
    private static let mostRows = 20

    func run(_ call: Invocation) async throws -> ExitCode {
        let question = try question(call)
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            let bytes = try await result(of: question, requests, call.console)
            if call.arguments.has("json") {
                call.console.send(bytes + [0x0A], .output)
            } else {
                show(try JSON.parse(bytes, limits: .ofWhatIf), call.console)
            }
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        return .success
    }

    private func question(_ call: Invocation) throws -> JSONObject {
        let arguments = call.arguments
        guard let path = arguments.words["policy"]?.first else {
            throw UsageError("the first word must be the file with the policy")
        }
        let bytes = path == "-" ? try Descriptor.readAll(0, "the input") : try File.bytes(path)
        let policy: JSON
        do throws(JSONError) {
            policy = try JSON.parse(bytes)
        } catch {
            throw CommandFailure("\(path) is not JSON: \(error.description)")
        }
        var question: JSONObject = [
            "realm": .string(try RealmOption(call).realm.name), "policy": policy,
        ]
        for name in ["from", "to"] {
            question[name] = try arguments.value(name).map { text throws(UsageError) in
                .string(try TimeWords.moment(text))
            }
        }
        question["filter"] = arguments.value("filter").map { .string($0) }
        return question
    }

    private func result(
        of question: JSONObject, _ requests: AdminRequests, _ console: Console
    ) async throws -> [UInt8] {
        let job = try await requests.read("createWhatIf", question)
        guard let id = job["id"]?.string.flatMap({ UUID($0) }), let realm = question["realm"],
            let first = job["from"]?.integer, let last = job["to"]?.integer
        else { throw CommandFailure("the answer names no what-if") }
        let names: JSONObject = ["realm": realm, "what_if_id": .string(id.description)]
        let progress = Progress(
            "what-if", unit: "events", total: max(0, last - first + 1), on: console)
        let rounds = WhatIfService.rounds(requests.store)
        try await rounds.make(
            id, "what-if", progress, { max(0, $0.scanned - first + 1) },
            state: {
                let job = try await requests.read("getWhatIf", names)
                return (job, max(0, (job["scanned_to"]?.integer ?? 0) - first + 1))
            })
        let response = await requests.response(of: "getWhatIfResult", names)
        guard response.status == .ok else { throw AdminRequests.refusal(response) }
        return response.body
    }

    // MARK: - For people

    private static let words = ["refuse", "interrupt", "satisfied", "not applicable", "unknown"]

    private func show(_ result: JSON, _ console: Console) {
        let accounts = result["accounts"]
        func number(_ json: JSON?) -> String { String(json?.integer ?? 0) }
        console.write(
            "Positions \(number(result["from"])) to \(number(result["to"])): "
                + "\(number(result["sign_ins"]?["total"])) sign-ins of \(number(accounts?["total"])) accounts."
        )
        console.write("")
        var table = Table(
            titles: ["rule"] + Self.words, numbers: Set(Self.words), overflow: .shorten)
        table.add(["all"] + cells(result["sign_ins"], PolicyOutcome.allCases.map(\.rawValue)))
        for rule in PolicyRule.allCases where !PolicyRule.lifetimes.contains(rule) {
            guard let counts = result["rules"]?[rule.rawValue] else { continue }
            table.add([rule.rawValue] + cells(counts, PolicyOutcome.allCases.map(\.rawValue)))
        }
        console.write(table.render(width: Table.width))
        for (part, word) in [("clients", "client"), ("roles", "role")] {
            let named = result["second_factor_of"]?[part]?.array ?? []
            for name in named.filter({ $0["sign_ins"]?.integer == 0 }).compactMap({
                $0["name"]?.string
            }) {
                console.write("None of these sign-ins is of the \(word) \(name).")
            }
        }
        if let refreshes = result["refreshes"] { show(refreshes, of: result, console) }
        console.write("")
        console.write(
            "\(number(accounts?["refused"])) accounts would have been refused, "
                + "\(number(accounts?["locked_out"])) of them each time; "
                + "\(number(accounts?["perhaps_locked_out"])) perhaps each time.")
        showAccounts(result["refused_accounts"]?.array ?? [], console)
    }

    private func cells(_ counts: JSON?, _ names: [String]) -> [String] {
        names.map { String(counts?[$0]?.integer ?? 0) }
    }

    private func show(_ refreshes: JSON, of result: JSON, _ console: Console) {
        let titles = ["would have ended", "satisfied", "not applicable", "unknown"]
        var table = Table(
            titles: ["sessions"] + titles, numbers: Set(titles), overflow: .shorten)
        table.add(["all refreshes"] + cells(refreshes, RefreshOutcome.names))
        for rule in PolicyRule.lifetimes {
            guard let counts = result["rules"]?[rule.rawValue] else { continue }
            table.add([rule.rawValue] + cells(counts, RefreshOutcome.names))
        }
        console.write("")
        console.write(table.render(width: Table.width))
        console.write(
            "\(refreshes["sessions_ended"]?.integer ?? 0) sessions would have ended.")
    }

    private func showAccounts(_ accounts: [JSON], _ console: Console) {
        guard !accounts.isEmpty else { return }
        let numbers = ["refused", "of", "last"]
        var table = Table(
            titles: ["account", "locked out"] + numbers + ["rules"], numbers: Set(numbers))
        for account in accounts.prefix(Self.mostRows) {
            let rules = (account["rules"]?.array ?? []).compactMap(\.string)
            table.add(
                [
                    account["account"]?.string ?? "",
                    account["locked_out"]?.bool == true ? "yes" : "no",
                ] + cells(account, ["would_refuse", "total", "last_position"])
                    + [rules.joined(separator: ", ")])
        }
        console.write("")
        console.write(table.render(width: Table.width))
        if accounts.count > Self.mostRows {
            console.write(
                "… and \(accounts.count - Self.mostRows) more: --json has all of them.")
        }
    }
}

extension JSON.Limits {
    /// A result has up to 100,000 accounts in it.
    fileprivate static let ofWhatIf = JSON.Limits(size: 256 * 1024 * 1024)
}
