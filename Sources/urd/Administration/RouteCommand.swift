import API
import HTTP
import JSON
import Values

/// An operation of the admin API as a command. It calls the same route with the same checks, in this
/// process.
struct RouteCommand: AnySubcommand {
    let words: [String]
    let operation: Operation
    /// Inputs whose values these words imply.
    var given: JSONObject = [:]
    /// The summary, where it is not the operation's.
    var summary: String?
    /// Examples, where they are not the operation's.
    var examples: [String]?

    var form: CommandForm {
        CommandForm(
            path: words, summary: sentence, examples: examples ?? operation.examples,
            details: operation.detail,
            options: options,
            operands: inputs.filter(isOperand).map { input in
                Operand(
                    input.name.replacing("_", with: "-"),
                    isNamedRealm(input)
                        ? "The realm; --realm or URD_REALM otherwise"
                        : input.description + nameHint(input),
                    count: isNamedRealm(input) ? .optional : .one)
            },
            settings: Store.settings + (callsOthers ? Settings.outgoing : []),
            consequence: consequence)
    }

    private var options: [Option] {
        var options = inputs.filter { !isOperand($0) || isNamedRealm($0) }.map(option)
        if !unsettable.isEmpty { options.append(unset) }
        if opensItems { options += [RouteList.open, RouteList.reason] }
        if isPaged { options.append(RouteList.all) }
        if isTable { options += [RouteList.wide, RouteList.columns] }
        options.append(.json)
        if isPaged { options.append(.csv) }
        return options
    }

    /// What a provider signed is looked at with its own keys, and a webhook is tried from here.
    private var callsOthers: Bool {
        ["createDelegatedCode", "delegateCode", "testWebhook"].contains(operation.id)
    }

    var inputs: [Operation.Input] {
        operation.inputs.filter { given[$0.name] == nil }
    }

    /// Whether its answer has rows.
    var isTable: Bool { !operation.columns.isEmpty }

    var isPaged: Bool { operation.inputs.contains { $0.name == "after" } }

    /// Whether `--open` opens the things that it lists one by one, as their own command does.
    var opensItems: Bool { operation.id == "listAccounts" }

    func run(_ call: Invocation) async throws -> ExitCode {
        let list = try RouteList(call, of: self)
        var values = try values(call)
        let requests = try await AdminRequests(call.settings(), callsOthers: callsOthers)
        defer { requests.close() }
        do {
            try await resolve(&values, requests)
            let answer = try await answer(call, list, values, requests)
            return operation.id == "testWebhook" && answer?["outcome"]?.string != "delivered"
                ? .failure : .success
        } catch let refusal as RouteRefusal {
            throw await explain(refusal, values, requests)
        }
    }

    private func answer(
        _ call: Invocation, _ list: RouteList, _ values: JSONObject, _ requests: AdminRequests
    ) async throws -> JSON? {
        let asJSON = call.arguments.has("json")
        let outcome = asJSON ? nil : try await RouteOutcome(operation.id, values, requests)
        let response = await requests.response(of: operation, values)
        guard response.status.code < 300 else { throw AdminRequests.refusal(response) }
        try await checkAccount(values, response, requests)
        guard var answer = try? JSON.parse(response.body) else {
            call.console.write(
                response.body.isEmpty ? "Done." : String(decoding: response.body, as: UTF8.self))
            return nil
        }
        answer = try await list.complete(answer, values, requests)
        if asJSON {
            call.console.write(answer)
        } else if answer["items"]?.array != nil {
            list.show(answer)
        } else if let outcome {
            call.console.write(try await outcome.text(answer, requests))
        }
        return answer
    }

    // MARK: - What help says

    private var sentence: String {
        let text = summary ?? operation.summary
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    var unsettable: [String] { inputs.filter(\.canBeNull).map(\.name) }

    private var unset: Option {
        .values("unset", "name", "Return to the default: \(unsettable.joined(separator: ", "))")
    }

    /// What names the thing is a word; the realm is an option, because it is nearly always the same, but
    /// for the commands about realms.
    func isOperand(_ input: Operation.Input) -> Bool {
        input.place == .path && (input.name != "realm" || isNamedRealm(input))
    }

    /// `urd realm show demo`: the realm may be a word as well as an option.
    func isNamedRealm(_ input: Operation.Input) -> Bool {
        input.place == .path && input.name == "realm" && words.first == "realm"
    }

    func flag(_ input: Operation.Input) -> String {
        isPermissions(input) ? "may" : String(input.name.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// `--may events.read,audit.read`: as it is said, and several at once.
    func isPermissions(_ input: Operation.Input) -> Bool {
        operation.id == "createAdminKey" && input.name == "permissions"
    }

    private func option(_ input: Operation.Input) -> Option {
        let need = input.isRequired && input.name != "realm" ? " (required)" : ""
        let text = input.name == "realm" ? "The realm; URD_REALM otherwise" : said(of: input) + need
        switch input.kind {
        case .text: return .value(flag(input), "text", text)
        case .integer: return .value(flag(input), "number", text)
        case .boolean: return Option(name: flag(input), form: .toggle, summary: text)
        case .texts: return .values(flag(input), "text", text)
        case .json: return .value(flag(input), "json", text)
        }
    }

    private func said(of input: Operation.Input) -> String {
        let text = input.description + (TimeWords.isTime(input) ? TimeWords.forms : nameHint(input))
        guard !input.choices.isEmpty else { return text }
        return (text.hasSuffix(".") ? String(text.dropLast()) : text)
            + " (\(input.choices.joined(separator: ", ")))"
    }
}
