/// An option of a command: `--name` or `--name value`.
struct Option: Equatable, Sendable {
    enum Form: Equatable, Sendable {
        case flag
        /// On when it stands alone; `true` or `false` may follow.
        case toggle
        case value(String)
        /// The option may be repeated.
        case values(String)
    }

    let name: String
    let form: Form
    let summary: String

    static func flag(_ name: String, _ summary: String) -> Option {
        Option(name: name, form: .flag, summary: summary)
    }

    static func value(_ name: String, _ placeholder: String, _ summary: String) -> Option {
        Option(name: name, form: .value(placeholder), summary: summary)
    }

    static func values(_ name: String, _ placeholder: String, _ summary: String) -> Option {
        Option(name: name, form: .values(placeholder), summary: summary)
    }

    static let json = Option.flag("json", "Write JSON for programs instead of a table")
    static let csv = Option.flag("csv", "Write the rows as CSV (RFC 4180) instead of a table")
    static let help = Option.flag("help", "Show this help")

    /// The option as help shows it.
    var usage: String {
        switch form {
        case .flag: "--\(name)"
        case .toggle: "--\(name) [true|false]"
        case .value(let placeholder), .values(let placeholder): "--\(name) \(placeholder)"
        }
    }
}

/// A word of a command that is not an option: `urd proof <position>`.
struct Operand: Equatable, Sendable {
    enum Count: Equatable, Sendable {
        case one
        case optional
        /// All remaining words of the command line; last in the list.
        case rest
    }

    let name: String
    let count: Count
    let summary: String

    init(_ name: String, _ summary: String, count: Count = .one) {
        self.name = name
        self.count = count
        self.summary = summary
    }

    var usage: String {
        switch count {
        case .one: "<\(name)>"
        case .optional: "[\(name)]"
        case .rest: "[\(name)…]"
        }
    }
}
