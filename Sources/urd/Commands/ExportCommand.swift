import API
import EventSourcing
import HTTP
import JSON
import Values

/// Writes the events of a realm for other tools: once, or file by file as they happen.
struct ExportCommand: Subcommand {
    static let path = ["export"]
    static let summary = "Write the events of a realm as JSON lines, CSV, OCSF or CloudEvents"
    static let examples = [
        "urd export --format csv --from yesterday --out events.csv",
        "urd export --format ocsf --type 'session.*' >sessions.ndjson",
    ]
    static let details = """
        The last line says how many events there are, behind which cursor the next export goes on, and the
        SHA-256 of the lines before it. With --follow there is a new file in --dir each time that --rotate has
        passed, with what happened since the file before; it goes on where its files end. A file has its
        name once it is whole and on the disk; its sum stands beside it in a file that ends in .sha256.
        """
    static let options = [
        RealmOption.option,
        Option.value("format", "format", "ndjson (the default), csv, ocsf or cloudevents"),
        Option.value("after", "cursor", "Begin behind this cursor, such as 1:4711"),
        Option.value("from", "moment", "Begin at this position, or behind this time or day"),
        Option.value("to", "moment", "End with this position, time or day; now otherwise"),
        Option.values(
            "type", "type", "Only events of this type, or of all that begin so: account.*"),
        Option.values("not-type", "type", "No events of this type"),
        Option.value("filter", "filter", "Only events that meet this filter"),
        Option.value("out", "file", "Write it there, whole or not at all; the output otherwise"),
        Option.flag("follow", "Go on as events happen, with --dir"),
        Option.value("rotate", "time", "How often there is a new file: 30s, 15m, 1h (the default)"),
        Option.value("dir", "folder", "The folder of the files"),
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let arguments = call.arguments
        let realm = try RealmOption(call).realm
        var asked: JSONObject = [
            "realm": .string(realm.name),
            "format": .string(arguments.value("format") ?? "ndjson"),
        ]
        asked["filter"] = arguments.value("filter").map { .string($0) }
        asked["after"] = arguments.value("after").map { .string($0) }
        for name in ["from", "to"] {
            asked[name] = try arguments.value(name).map { text throws(UsageError) in
                .string(try TimeWords.moment(text))
            }
        }
        for name in ["type", "not-type"] {
            guard let values = arguments.values[name], !values.isEmpty else { continue }
            asked[name == "type" ? "type" : "not_type"] = .array(values.map { .string($0) })
        }
        let rotation = try rotation(arguments, realm)
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            if let rotation {
                try await follow(
                    rotation.files, every: rotation.seconds, asked, requests, call.console)
            } else {
                try await once(asked, requests, call)
            }
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        return .success
    }

    private func rotation(
        _ arguments: Arguments, _ realm: RealmID
    ) throws(UsageError) -> (files: ExportRotation, seconds: Int64)? {
        guard arguments.has("follow") else {
            if arguments.value("dir") != nil || arguments.value("rotate") != nil {
                throw UsageError("--dir and --rotate go with --follow")
            }
            return nil
        }
        guard let folder = arguments.value("dir"), arguments.value("out") == nil,
            arguments.value("to") == nil
        else { throw UsageError("--follow goes with --dir, and neither with --out nor with --to") }
        guard let seconds = TimeWords.seconds(arguments.value("rotate") ?? "1h"), seconds > 0 else {
            throw UsageError("--rotate must be a time such as 30s, 15m or 1h")
        }
        let format = arguments.value("format") ?? "ndjson"
        return (
            ExportRotation(
                folder: folder, realm: realm, fileExtension: format == "csv" ? "csv" : "ndjson",
                format: format), seconds
        )
    }

    // MARK: - Once

    private func once(
        _ asked: JSONObject, _ requests: AdminRequests, _ call: Invocation
    ) async throws {
        let (stream, _) = try await stream(asked, requests)
        guard let path = call.arguments.value("out") else {
            let console = call.console
            return try await whole {
                try await stream.produce(
                    BodyStream.Writer {
                        console.send($0, .output)
                        try console.checkOutput()
                    })
            }
        }
        let file = try DraftFile(path)
        let progress = Progress("export", unit: "bytes", on: call.console)
        try await whole {
            try await stream.produce(
                BodyStream.Writer {
                    try file.write($0)
                    progress.advance(to: file.count)
                })
        }
        progress.finish()
        let sum = try file.publish()
        call.console.write("Wrote \(path), SHA-256 \(sum).")
    }

    private func stream(
        _ asked: JSONObject, _ requests: AdminRequests
    ) async throws -> (stream: BodyStream, end: LogCursor) {
        let response = await requests.response(of: "exportEvents", asked)
        guard response.status.code < 300, let stream = response.stream,
            let end = response.headers["Urd-Export-Cursor"].flatMap({ LogCursor($0) })
        else { throw AdminRequests.refusal(response) }
        return (stream, end)
    }

    /// An export that broke off is no export.
    private func whole(_ write: () async throws -> Void) async throws {
        do {
            try await write()
        } catch let failure as SystemFailure {
            throw CommandFailure("\(failure)")
        } catch let lost as OutputLost {
            throw lost
        } catch let cancelled as CancellationError {
            throw cancelled
        } catch {
            throw CommandFailure(
                "the export broke off",
                remedy: "`urd verify` says whether the log is whole. Then export again.")
        }
    }

    // MARK: - File by file

    private func follow(
        _ files: ExportRotation, every seconds: Int64, _ asked: JSONObject,
        _ requests: AdminRequests, _ console: Console
    ) async throws {
        do throws(SystemFailure) {
            try File.makeFolder(files.folder)
        } catch {
            throw CommandFailure("\(error)")
        }
        try files.claim()
        try files.tidy()
        var question = asked
        var place = try files.place()
        while true {
            try Task.checkCancellation()
            if let place {
                question["after"] = .string(place.description)
                question["from"] = nil
            }
            do {
                place = try await next(files, question, requests, console) ?? place
            } catch let failure as CommandFailure {
                console.complain("urd: \(failure.what); again in \(seconds) s")
            }
            try await Task.sleep(for: .seconds(seconds))
        }
    }

    /// Where the file ends; nil where nothing happened.
    private func next(
        _ files: ExportRotation, _ question: JSONObject, _ requests: AdminRequests,
        _ console: Console
    ) async throws -> LogCursor? {
        let (stream, end) = try await stream(question, requests)
        let start = question["after"]?.string.flatMap { LogCursor($0) } ?? .start
        guard end.position > start.position || end.epoch != start.epoch else { return nil }
        let name = files.name(after: start, to: end)
        let file = try DraftFile("\(files.folder)/\(name)")
        try await whole {
            try await stream.produce(BodyStream.Writer { try file.write($0) })
        }
        try files.writeSum(try file.publish(), of: name)
        try files.cursorFile.write(end)
        console.write(name)
        return end
    }
}
