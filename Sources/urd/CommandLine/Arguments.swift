import Values

/// A wrong usage of the command line; the text says how to use it.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The words behind a command's name, sorted into what the command declared.
struct Arguments: Equatable, Sendable {
    /// Values by option name; a flag that was given has an empty list.
    private(set) var values: [String: [String]] = [:]
    private(set) var words: [String: [String]] = [:]
    private var declared: [String] = []

    init(
        _ arguments: some Sequence<String>, options: [Option], operands: [Operand]
    ) throws(UsageError) {
        declared = options.map(\.name) + operands.map(\.name)
        var loose: [String] = []
        var rest = Array(arguments)[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if optionsEnded || word == "-" || !word.hasPrefix("-") {
                loose.append(word)
            } else if word == "--" {
                optionsEnded = true
            } else {
                try take(option: word, of: options, from: &rest)
            }
        }
        try take(operands: operands, from: loose)
    }

    private mutating func take(
        option word: String, of options: [Option], from rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let given = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard given.hasPrefix("--") || given == "-h" else {
            throw UsageError("unknown option \(given); options are written --name")
        }
        let name = given == "-h" ? "help" : String(given.dropFirst(2))
        guard let option = options.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown option --\(name)"
                    + NearestName.hint(for: name, among: options.map(\.name), prefix: "--"))
        }
        if values[name] != nil, !option.mayRepeat {
            throw UsageError("--\(name) was given twice")
        }
        switch option.form {
        case .flag:
            if attached != nil { throw UsageError("--\(name) takes no value") }
            values[name] = []
        case .toggle:
            let follows = rest.first.map { ["true", "false", "null"].contains($0) } ?? false
            values[name] = [attached ?? (follows ? rest.removeFirst() : "true")]
        case .value(let placeholder), .values(let placeholder):
            // A following option is not a value: `--realm --json` forgot one. A value that does
            // begin with a dash is attached: `--name=-x`.
            if attached == nil, rest.first?.hasPrefix("--") ?? true {
                throw UsageError("--\(name) needs a value: --\(name) \(placeholder)")
            }
            guard let value = attached ?? rest.popFirst() else { return }
            values[name, default: []].append(value)
        }
    }

    private mutating func take(operands: [Operand], from loose: [String]) throws(UsageError) {
        var loose = loose[...]
        for operand in operands {
            if operand.count != .rest, loose.first?.isEmpty == true {
                throw UsageError("\(operand.usage) is empty: \(operand.summary)")
            }
            switch operand.count {
            case .one:
                guard let word = loose.popFirst() else {
                    throw UsageError("missing \(operand.usage): \(operand.summary)")
                }
                words[operand.name] = [word]
            case .optional:
                if let word = loose.popFirst() { words[operand.name] = [word] }
            case .rest:
                words[operand.name] = Array(loose)
                loose = []
            }
        }
        if let extra = loose.first { throw UsageError("unexpected word '\(extra)'") }
    }
}

extension Option {
    fileprivate var mayRepeat: Bool {
        switch form {
        case .flag, .values: true
        case .value, .toggle: false
        }
    }
}

// MARK: - What a command asks

extension Arguments {
    func has(_ option: String) -> Bool {
        check(option)
        return values[option] != nil
    }

    func value(_ option: String) -> String? {
        check(option)
        return values[option]?.first
    }

    func required(_ option: String) throws(UsageError) -> String {
        guard let value = value(option) else { throw UsageError("--\(option) is needed") }
        return value
    }

    func integer(
        _ option: String, in range: ClosedRange<Int64> = 0...Int64.max
    ) throws(UsageError) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw UsageError(
                "--\(option) must be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound), not '\(text)'")
        }
        return number
    }

    func operand(_ name: String) -> String? {
        check(name)
        return words[name]?.first
    }

    func rest(_ name: String) -> [String] {
        check(name)
        return words[name] ?? []
    }

    private func check(_ name: String) {
        precondition(declared.contains(name), "A command asks only for what it declares.")
    }
}
