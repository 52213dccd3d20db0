import API
import HTTP
import JSON
import Telemetry
import Values

/// An operation of the admin API as a command. It asks the same route with the same checks, in this
/// process: whoever has the database and the master key in hand needs no admin key.
struct RouteCommand: AnySubcommand {
    let words: [String]
    let operation: Operation
    /// What these words say already.
    var given: JSONObject = [:]
    /// What is said of it, where that is not what is said of the operation.
    var summary: String?

    var form: CommandForm {
        CommandForm(
            path: words, summary: sentence, details: operation.detail,
            options: inputs.filter { !isOperand($0) }.map(option)
                + (unsettable.isEmpty ? [] : [unset]) + [.json] + (isList ? [.csv] : []),
            operands: inputs.filter(isOperand).map {
                Operand(
                    $0.name.replacing("_", with: "-"),
                    $0.description + (isAccount($0) ? " A mail address will do." : ""))
            },
            settings: Store.settings + (asksProviders ? Settings.outgoing : []))
    }

    /// What a provider signed is looked at with its own keys.
    private var asksProviders: Bool {
        ["createDelegatedCode", "delegateCode"].contains(operation.id)
    }

    private var inputs: [Operation.Input] {
        operation.inputs.filter { given[$0.name] == nil }
    }

    private var isList: Bool { operation.inputs.contains { $0.name == "after" } }

    func run(_ call: Invocation) async throws -> ExitCode {
        if isList, call.arguments.has("json"), call.arguments.has("csv") {
            throw UsageError("--json and --csv: the answer has one form")
        }
        var values = try values(call)
        let settings = try call.settings()
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let models = try Models(store)
        let router = Router(
            API.table,
            context: AdminContext(
                store: store, queries: models.queries,
                upstream: asksProviders
                    ? Upstream(calls: UpstreamCalls(try OutgoingCalls(settings))) : Upstream(),
                operator: Operator.name),
            log: .silent, metrics: store.metrics)
        try await resolve(&values, router)
        let response = await router.respond(to: operation.request(values, id: "cli"))
        guard response.status.code < 300 else { throw refusal(response) }
        try await checkAccount(values, response, router)
        show(response, call)
        return .success
    }

    // MARK: - Asking

    private var sentence: String {
        let text = summary ?? operation.summary
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    private var unsettable: [String] { inputs.filter(\.canBeNull).map(\.name) }

    private var unset: Option {
        .values("unset", "name", "Return to the default: \(unsettable.joined(separator: ", "))")
    }

    /// What names the thing is a word; the realm is an option, because it is nearly always the same.
    private func isOperand(_ input: Operation.Input) -> Bool {
        input.place == .path && input.name != "realm"
    }

    func flag(_ input: Operation.Input) -> String {
        String(input.name.lowercased().map { $0 == "_" ? "-" : $0 })
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
        guard !input.choices.isEmpty else { return input.description }
        let text = input.description
        return (text.hasSuffix(".") ? String(text.dropLast()) : text)
            + " (\(input.choices.joined(separator: ", ")))"
    }

    private func values(_ call: Invocation) throws -> JSONObject {
        var values = given
        for input in inputs {
            if isOperand(input) {
                values[input.name] = call.arguments.words[
                    input.name.replacing("_", with: "-")
                ]?.first.map { .string($0) }
                continue
            }
            let given = call.arguments.values[flag(input)] ?? []
            if let value = try value(input, given) {
                values[input.name] = value
            } else if input.name == "realm", let realm = call.environment["URD_REALM"] {
                values[input.name] = .string(realm)
            } else if input.isRequired {
                throw UsageError("--\(flag(input)) is missing: \(input.description)")
            }
        }
        for name in call.arguments.values["unset"] ?? [] {
            guard let known = unsettable.first(where: { $0 == name.replacing("-", with: "_") })
            else {
                throw UsageError(
                    "--unset: there is no '\(name)'"
                        + NearestName.hint(for: name, among: unsettable))
            }
            guard values[known] == nil else {
                throw UsageError("--unset \(known): a value is given for it as well")
            }
            values[known] = .null
        }
        return values
    }

    private func value(
        _ input: Operation.Input, _ given: [String]
    ) throws(UsageError) -> JSON? {
        guard let text = given.first else { return nil }
        try requireNoCommas(input, given)
        // It would be taken for a text, and a domain of that name is not what anybody means.
        if input.canBeNull, input.kind != .json, given.contains("null") {
            throw UsageError("--\(flag(input)) null: --unset \(input.name) unsets it")
        }
        switch input.kind {
        case .text: return .string(text)
        case .texts: return .array(given.map { .string($0) })
        case .integer:
            let range = input.range ?? Int64.min...Int64.max
            guard let number = Int64(text), range.contains(number) else {
                throw UsageError(
                    "--\(flag(input)) must be a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound), not '\(text)'")
            }
            return .integer(number)
        case .boolean:
            guard text == "true" || text == "false" else {
                throw UsageError("--\(flag(input)) must be true or false, not '\(text)'")
            }
            return .bool(text == "true")
        case .json:
            guard let value = try? JSON.parse(Array(text.utf8)) else {
                throw UsageError("--\(flag(input)) must be JSON, not '\(text)'")
            }
            return value
        }
    }

    // MARK: - Answering

    func refusal(_ response: Response) -> CommandFailure {
        let problem = (try? JSON.parse(response.body)) ?? .null
        let title = problem["title"]?.string ?? "the answer was \(response.status.code)"
        // The detail names the field already.
        if let detail = problem["detail"]?.string { return CommandFailure("\(title) \(detail)") }
        return CommandFailure(problem["field"]?.string.map { "\(title) (\($0))" } ?? title)
    }

    private func show(_ response: Response, _ call: Invocation) {
        guard let answer = try? JSON.parse(response.body) else {
            return call.console.write(
                response.body.isEmpty ? "Done." : String(decoding: response.body, as: UTF8.self))
        }
        if call.arguments.has("json") { return call.console.write(answer) }
        if let items = answer["items"]?.array {
            if isList, call.arguments.has("csv") { return writeCSV(items, answer["next"], call) }
            call.console.write(Table(listing: items, columns: operation.columns).render())
            if let next = answer["next"]?.string {
                call.console.write("More: --after \(next)")
            }
        } else {
            call.console.write(Table(of: answer).render())
        }
    }
}

extension RouteCommand {
    private func writeCSV(_ items: [JSON], _ next: JSON?, _ call: Invocation) {
        call.console.write(CSV(listing: items, columns: operation.columns))
        // What goes on is said beside the rows, or programs would read it as one.
        if let next = next?.string { call.console.complain("More: --after \(next)") }
    }
}

extension Table {
    /// One thing: a row for each member.
    init(of value: JSON) {
        self.init("name", "value")
        for (name, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            add([name, Self.cell(member)])
        }
    }

    /// Many things: those of their columns that are short and that any of them has.
    init(listing items: [JSON], columns: [String]) {
        let shown = columns.filter { name in
            let values = items.compactMap { $0[name] }
            return values.contains { $0 != .null } && !values.contains(where: Self.isDeep)
        }
        self.init(titles: shown)
        for item in items { add(shown.map { Self.cell(item[$0] ?? .null) }) }
    }

    private static func isDeep(_ value: JSON) -> Bool {
        switch value {
        case .object: true
        case .array(let elements): elements.contains { isDeep($0) }
        case .null, .bool, .integer, .string: false
        }
    }

    private static func cell(_ value: JSON) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text
        case .array(let elements): elements.map(cell).joined(separator: " ")
        case .bool, .integer, .object: String(decoding: value.canonical(), as: UTF8.self)
        }
    }
}
