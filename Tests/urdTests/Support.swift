import Synchronization

@testable import urd

/// A console that keeps what it is told.
final class Notes: Sendable {
    private let kept = Mutex<(output: [UInt8], error: [UInt8])>(([], []))

    var output: String { String(decoding: kept.withLock { $0.output }, as: UTF8.self) }
    var error: String { String(decoding: kept.withLock { $0.error }, as: UTF8.self) }

    func console(terminal: Bool = false, width: Int = 80) -> Console {
        Console(
            errorIsTerminal: terminal, errorWidth: { width },
            send: { [self] bytes, stream in
                kept.withLock { kept in
                    switch stream {
                    case .output: kept.output += bytes
                    case .error: kept.error += bytes
                    }
                }
            })
    }
}

extension Notes {
    /// A terminal at which a person types this and nothing more.
    func terminal(typing answer: String) -> Console {
        Console(
            errorIsTerminal: true, inputIsTerminal: true, readLine: { answer },
            send: { [self] bytes, stream in
                kept.withLock { kept in
                    switch stream {
                    case .output: kept.output += bytes
                    case .error: kept.error += bytes
                    }
                }
            })
    }
}

/// Repeats its arguments, so that tests see what reached it.
struct Echo: Subcommand {
    static let path = ["echo"]
    static let summary = "Say it again"
    static let examples = ["urd echo"]
    static let options = [
        Option.json, Option(name: "loud", form: .toggle, summary: "Whether to shout"),
        .value("times", "count", "How often"), .values("tag", "word", "Marks"),
    ]
    static let operands = [
        Operand("word", "What to say"), Operand("more", "And this", count: .rest),
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let times = try call.arguments.integer("times", in: 1...9) ?? 1
        let words = [call.arguments.operand("word") ?? ""] + call.arguments.rest("more")
        call.console.write("\(times) \(words) \(call.arguments.values["tag"] ?? [])")
        return call.arguments.has("json") ? .failure : .success
    }
}

/// Writes for as long as its output is taken.
struct Endless: Subcommand {
    static let path = ["endless"]
    static let summary = "Never stop"
    static let examples = ["urd endless"]

    func run(_ call: Invocation) async throws -> ExitCode {
        while true {
            call.console.write("again")
            try call.console.checkOutput()
        }
    }
}

struct ClientRegister: Subcommand {
    static let path = ["client", "register"]
    static let summary = "Register a client"
    static let examples = ["urd client register"]
    static let settings: [any AnySetting] = [Settings.listenPort, Settings.databaseURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings()
        call.console.write("port \(settings[Settings.listenPort])")
        _ = try settings.require(Settings.databaseURL)
        return .success
    }
}

struct ClientList: Subcommand {
    static let path = ["client", "list"]
    static let summary = "List the clients"
    static let examples = ["urd client list"]

    func run(_ call: Invocation) async throws -> ExitCode {
        throw CommandFailure("the realm is closed", remedy: "Open it.")
    }
}

struct Fail: Subcommand {
    static let path = ["fail"]
    static let summary = "Fail"
    static let examples = ["urd fail"]
    static let options = [Option.json]

    func run(_ call: Invocation) async throws -> ExitCode {
        throw CommandFailure("it is \"closed\"", remedy: "Open it.")
    }
}

/// Runs a line through a program of these commands.
func run(
    _ line: String, environment: [String: String] = [:]
) async -> (code: ExitCode, output: String, error: String) {
    let notes = Notes()
    let program = Program(
        name: "urd", version: "1.2.3", commands: [Echo(), ClientRegister(), ClientList(), Fail()],
        environment: Environment(environment), console: notes.console())
    let code = await program.run(line.split(separator: " ").map(String.init))
    return (code, notes.output, notes.error)
}
