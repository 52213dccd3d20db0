import EventSourcing
import Glibc
import HTTP
import HTTPClient
import Identity
import JSON

/// Shows a part of the log as it happened, at a speed, over HTTP.
struct ReplayCommand: Subcommand {
    static let path = ["replay"]
    static let summary = "Watch sign-ins as they happened, faster or step by step"
    static let examples = [
        "urd replay --from-time 2026-11-01 --speed 3600 --max-gap 1",
        "urd replay --from start --speed 0 --json >sign-ins.ndjson",
    ]
    static let details = """
        Needs neither database nor master key: only the server's address and an admin key. Without --type it
        shows sign-ins and their ends. With --step each event waits for the Enter key. Where it is stopped it
        says the cursor to go on behind.
        """
    static let options =
        FeedAddress.options + [
            Option.value(
                "until", "cursor", "The cursor of the last event; the head of the log otherwise"),
            Option.value("until-time", "time", "Nothing later than this time"),
            Option.value(
                "speed", "times",
                "Seconds of the log in a second: 60 otherwise; 0 waits for nothing"),
            Option.value("max-gap", "seconds", "The longest wait for an event; 2 otherwise"),
            Option.flag("step", "Wait for the Enter key before each event"),
            Option.flag("all", "All events, and not only sign-ins"),
            Option.flag("json", "Write the events as they come, a line each"),
        ]

    /// The events of a sign-in and of the end of a session.
    private static let signIns = [
        SessionEvent.Form.opened.name, SessionEvent.Form.refused.name, SessionEvent.Form.ended.name,
        BrowserSessionEvent.Form.opened.name, BrowserSessionEvent.Form.refused.name,
        BrowserSessionEvent.Form.ended.name,
    ]

    private static let silence: Duration = .seconds(45)

    func run(_ call: Invocation) async throws -> ExitCode {
        let arguments = call.arguments
        let isStepping = arguments.has("step")
        let asJSON = arguments.has("json")
        if isStepping, !call.console.canAsk {
            throw UsageError("--step needs a terminal, whose Enter key it waits for")
        }
        var more: [(name: String, value: String)] = []
        for (option, name) in [("until", "until"), ("until-time", "until_time")] {
            if let value = arguments.value(option) { more.append((name: name, value: value)) }
        }
        let speed = try arguments.integer("speed", in: 0...1_000_000) ?? 60
        // A person who steps waits for nothing but themselves.
        more.append((name: "speed", value: String(isStepping ? 0 : speed)))
        let gap = try arguments.integer("max-gap", in: 0...3_600) ?? 2
        more.append((name: "max_gap", value: String(gap)))
        if arguments.values["type"] == nil, !arguments.has("all") {
            more += Self.signIns.map { (name: "type", value: $0) }
        }
        let place = try FeedAddress(call, path: "replay", more)
        let screen = ReplayScreen(console: call.console, isStepping: isStepping, asJSON: asJSON)
        let reader = FeedReader(
            FeedReader.Work(screen: screen, console: call.console), at: nil)
        var configuration = Configuration()
        configuration.threads = 1
        let client = try WebClient(configuration)
        defer { client.close() }
        screen.begin()
        let stops = Signals.stops()
        let stopping = Task {
            for await number in stops {
                reader.cancel()
                if let cursor = reader.cursor {
                    call.console.complain("urd: stopped; go on with --from \(cursor)")
                }
                exit(128 + number)
            }
        }
        defer { stopping.cancel() }
        return try await FeedCommand.follow(reader, client, place, call.console, Self.silence)
    }
}
