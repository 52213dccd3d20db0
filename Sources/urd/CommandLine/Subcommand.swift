import Postgres

/// One command of `urd`, as the program sees it.
protocol AnySubcommand: Sendable {
    var form: CommandForm { get }

    func run(_ call: Invocation) async throws -> ExitCode

    /// What would change; asked of destructive commands only.
    func preview(_ call: Invocation) async throws -> Preview
}

extension AnySubcommand {
    /// Its first word, or its realm; the command's own last word where it has neither.
    func preview(_ call: Invocation) async throws -> Preview {
        let words = form.operands.lazy.compactMap { call.arguments.words[$0.name]?.first }
        let realm = call.arguments.values["realm"]?.first ?? call.environment["URD_REALM"]
        let hasRealm = form.options.contains { $0.name == "realm" }
        return Preview(name: words.first ?? (hasRealm ? realm : nil) ?? form.path.last ?? "")
    }
}

/// A command that compares: it exits with 2 where something differs, so that a wrong usage is an error like any other.
protocol ComparingCommand: Subcommand {}

/// How a command is called and what help says about it.
struct CommandForm: Sendable {
    let path: [String]
    let summary: String
    /// Whole lines, as its help shows them.
    let examples: [String]
    var details = ""
    var options: [Option] = []
    var operands: [Operand] = []
    var settings: [any AnySetting] = []
    var consequence = Consequence.harmless

    var name: String { path.joined(separator: " ") }
    /// The command's own, without its settings.
    var ownOptions: [Option] {
        options + (consequence.isDestructive ? Confirmation.options : [])
    }
    var allOptions: [Option] { ownOptions + settings.map(\.option) }
}

/// One command of `urd`. To add one: a file with a type like this, and a line in `Commands.all`.
protocol Subcommand: AnySubcommand {
    /// The words that call it: `["client", "register"]`.
    static var path: [String] { get }
    /// One sentence for the list of commands, without a full stop.
    static var summary: String { get }
    /// Whole lines, at least one; words in capitals stand for ids that a list shows. A test runs them all
    /// against `urd dev`.
    static var examples: [String] { get }
    /// More for its own help page; paragraphs are separated by an empty line.
    static var details: String { get }
    static var options: [Option] { get }
    static var operands: [Operand] { get }
    /// The settings that it reads: each is a flag of this command, too.
    static var settings: [any AnySetting] { get }
    /// Whether the command asks for a confirmation before it runs.
    static var consequence: Consequence { get }
}

extension Subcommand {
    static var details: String { "" }
    static var options: [Option] { [] }
    static var operands: [Operand] { [] }
    static var settings: [any AnySetting] { [] }
    static var consequence: Consequence { .harmless }

    var form: CommandForm {
        CommandForm(
            path: Self.path, summary: Self.summary, examples: Self.examples,
            details: Self.details, options: Self.options,
            operands: Self.operands, settings: Self.settings, consequence: Self.consequence)
    }
}

/// A call of a command: its words, the surroundings, and where to write.
struct Invocation: Sendable {
    let arguments: Arguments
    let environment: Environment
    let console: Console
    let settingsOfCommand: [any AnySetting]

    /// The settings that the command declared, from flags, environment, files and defaults.
    ///
    /// `strictly` refuses `URD_…` variables that are unknown: for what runs unattended, where a
    /// misspelt name would silently mean the default.
    func settings(strictly: Bool = false) throws(SettingsFailure) -> Settings {
        let sources = SettingsSources(
            flags: arguments.values, environment: environment, readFile: { try? File.text($0) })
        return try Settings(settingsOfCommand, from: sources, strictly: strictly)
    }
}
