import API
import EventSourcing
import Identity
import JSON
import Telemetry
import Values

extension RouteCommand {
    func values(_ call: Invocation) throws -> JSONObject {
        var values = given
        for input in inputs {
            let operand = isOperand(input) ? word(input, call) : nil
            if let operand { values[input.name] = .string(try moment(operand, input)) }
            if isOperand(input), !isNamedRealm(input) { continue }
            if let operand {
                if let given = call.arguments.values["realm"]?.first, given != operand {
                    throw UsageError("--realm \(given): the realm is \(operand) already")
                }
                continue
            }
            var given = call.arguments.values[flag(input)] ?? []
            if isPermissions(input) {
                // An empty one is no permission and refused: left out, the key could do everything.
                given = given.flatMap {
                    $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                }
            }
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

    /// A position stays as it is; a time is read as people say it.
    private func moment(_ text: String, _ input: Operation.Input) throws(UsageError) -> String {
        TimeWords.isMoment(input) ? try TimeWords.moment(text) : text
    }

    private func value(
        _ input: Operation.Input, _ given: [String]
    ) throws(UsageError) -> JSON? {
        guard let text = given.first else { return nil }
        try requireNoCommas(input, given)
        // It would be taken for a text, and no caller means a domain of that name.
        if input.canBeNull, input.kind != .json, given.contains("null") {
            throw UsageError("--\(flag(input)) null: --unset \(input.name) unsets it")
        }
        if TimeWords.isTime(input) {
            guard let time = TimeWords.read(text, now: Log.systemTime()) else {
                throw UsageError("--\(flag(input)) '\(text)' is no time.\(TimeWords.forms)")
            }
            return .string(time)
        }
        if operation.id == "listAuditTrail", input.name == "type" { try checkType(text) }
        try requireChoices(input, given)
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

    private func requireChoices(
        _ input: Operation.Input, _ given: [String]
    ) throws(UsageError) {
        guard !input.choices.isEmpty, input.kind == .text || input.kind == .texts else { return }
        for text in given where !input.choices.contains(text) {
            let hint = NearestName.hint(for: text, among: input.choices)
            throw UsageError(
                "--\(flag(input)): there is no '\(text)'"
                    + (hint.isEmpty
                        ? "; it is one of \(input.choices.joined(separator: ", "))" : hint))
        }
    }

    private func word(_ input: Operation.Input, _ call: Invocation) -> String? {
        call.arguments.words[input.name.replacing("_", with: "-")]?.first
    }

    /// A type is an event's name, or what the names of many begin with up to a dot.
    private func checkType(_ text: String) throws(UsageError) {
        let names = EventCatalogue.all.map(\.name)
        let beginnings = names.flatMap { name in
            name.indices.filter { name[$0] == "." }.map { String(name[..<$0]) }
        }
        let known = Set(names + beginnings)
        guard !known.contains(text) else { return }
        throw UsageError(
            "--type: there is no '\(text)'" + NearestName.hint(for: text, among: known.sorted()))
    }
}

extension TimeWords {
    /// A position as it is; of anything else the time that it means now.
    static func moment(_ text: String) throws(UsageError) -> String {
        if Int64(text) != nil { return text }
        guard let time = read(text, now: Log.systemTime()) else {
            throw UsageError("'\(text)' is no position and no time.\(forms)")
        }
        return time
    }
}
