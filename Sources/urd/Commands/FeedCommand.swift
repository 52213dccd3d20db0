import EventSourcing
import HTTP
import HTTPClient
import JSON

/// Follows a realm over HTTP: what a service does that keeps a copy of something.
struct FeedCommand: Subcommand {
    static let path = ["feed"]
    static let summary = "Read the events of a realm over HTTP, and run a program for each"
    static let examples = [
        "urd feed --from start --limit 5 >events.ndjson",
        "urd feed --from start --type 'client.*' --limit 1 --cursor-file cursor \\\n"
            + "      --exec 'cat >>clients.ndjson'",
    ]
    static let details = """
        Needs neither database nor master key: only the server's address and an admin key. With --exec each
        event is the input of a program, once it is done and has said 0; a program that fails is run again.
        With --cursor-file the place is on disk after each event, and the next run goes on there. An event
        comes again where a run ended in between: programs tell by its id.
        """
    static let options =
        FeedAddress.options + [
            Option.value("exec", "command", "Run this by the shell for each event"),
            Option.value("cursor-file", "file", "Keep the place here"),
            Option.value("limit", "number", "So many events and no more"),
        ]

    /// Nothing comes for so long: then the connection is gone. The server speaks every 15 seconds.
    private static let silence: Duration = .seconds(45)
    private static let longestPause = 30.0

    func run(_ call: Invocation) async throws -> ExitCode {
        let arguments = call.arguments
        let file = arguments.value("cursor-file").map { CursorFile(path: $0) }
        let kept = try file?.read()
        let environment = call.environment
        let reader = FeedReader(
            FeedReader.Work(
                program: arguments.value("exec").map { command in
                    EventProgram(
                        command: command,
                        environment: environment.names.sorted().map {
                            "\($0)=\(environment[$0] ?? "")"
                        })
                }, file: file,
                limit: try arguments.integer("limit", in: 1...Int64.max) ?? .max,
                console: call.console), at: kept)
        let place = try FeedAddress(call)
        var configuration = Configuration()
        configuration.threads = 1
        let client = try WebClient(configuration)
        defer { client.close() }
        return try await withTaskCancellationHandler {
            try await Self.follow(reader, client, place, call.console, Self.silence)
        } onCancel: {
            reader.cancel()
        }
    }

    /// Until the reader has what it wants or is refused, over as many connections as it takes.
    ///
    /// - Parameter silence: nothing comes for so long: then the connection is gone.
    static func follow(
        _ reader: FeedReader, _ client: WebClient, _ place: FeedAddress, _ console: Console,
        _ silence: Duration
    ) async throws -> ExitCode {
        var pause = 0.5
        while true {
            reader.begin()
            let request = place.request(from: reader.cursor)
            var wait: Double?
            switch await ask(client, request, reader, silence) {
            case .success(let response):
                if response.status != .ok { wait = try refusal(response) }
            case .failure(let failure):
                guard mayPass(failure) else {
                    throw CommandFailure("\(place.url): \(failure.code.rawValue)")
                }
                console.complain("urd: \(place.url): \(failure.code.rawValue); connecting again")
            }
            if let ending = reader.ending, let code = try end(ending) { return code }
            if reader.hasMoved { pause = 0.5 }
            pause = min(pause * 2, longestPause)
            // Those who lost one server at the same moment do not come to the next at the same moment.
            try await Task.sleep(for: .seconds(wait ?? pause * .random(in: 0.5...1)))
        }
    }

    private static func ask(
        _ client: WebClient, _ request: OutgoingRequest, _ reader: FeedReader,
        _ silence: Duration
    ) async -> Result<Response, HTTPClient.Failure> {
        do {
            return .success(
                try await client.stream(request, silence: silence) { reader.take($0) })
        } catch {
            return .failure(error)
        }
    }

    /// Nil: it goes on over another connection.
    private static func end(_ ending: FeedReader.Ending) throws -> ExitCode? {
        switch ending {
        case .limit, .outputLost: return .success
        case .failed(let failure): throw failure
        case .refused(let problem):
            if problem["status"]?.integer == 503 { return nil }
            throw CommandFailure(refused: problem)
        }
    }

    /// Seconds until a retry makes sense (Retry-After).
    private static func refusal(_ response: Response) throws -> Double {
        if [429, 502, 503, 504].contains(response.status.code) {
            let asked = response.headers["Retry-After"].flatMap { Double($0) } ?? 1
            return min(max(1, asked), longestPause) * .random(in: 1...1.5)
        }
        throw CommandFailure(
            refused: (try? JSON.parse(response.body))?.object ?? [:], response.status)
    }

    private static func mayPass(_ failure: HTTPClient.Failure) -> Bool {
        switch failure.code {
        case .unknownHost, .unreachable, .timeout, .broken, .busy: true
        case .invalidRequest, .forbiddenAddress, .untrusted, .tooLarge, .refusedRedirect, .closed,
            .cancelled, .library:
            false
        }
    }
}

extension CommandFailure {
    /// In the words of the server, and what is to be done.
    fileprivate init(refused problem: JSONObject, _ status: Status = .ok) {
        let what =
            problem["detail"]?.string ?? problem["title"]?.string ?? "the server said \(status)"
        guard problem["type"]?.string == "/problems/position-lost",
            let cursor = problem["cursor"]?.string, let kept = problem["kept_to"]?.integer
        else {
            self.init("the feed is refused: \(what)")
            return
        }
        self.init(
            "the log went back to position \(kept)",
            remedy: "Undo what was made of later events. Then go on with --from \(cursor), or with "
                + "that in the cursor file.")
    }
}
