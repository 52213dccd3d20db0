import API
import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Values

/// Makes a case file and writes it, whole or not at all.
struct CaseCommand: Subcommand {
    static let path = ["case"]
    static let summary =
        "Write the events about an account, client or network, with what proves them"
    static let examples = [
        "urd case account ann@example.org --reason 'Incident 4711' --out ann.jsonl",
        "urd case client demo-native --reason 'Incident 4711' --html client.html",
    ]
    static let details = """
        `Tests/Interop/verify_log.py case` checks the file without Urd and without a network. With --open personal
        fields are in it, each event's with a key of its own; that is on record before. That the file is handed out
        is on record as case_file.issued. With --complete it has the leaves of the whole log.
        """
    static let options = [
        RealmOption.option,
        Option.value("reason", "text", "Why it is asked for; it is kept in the log (required)"),
        Option.value(
            "until", "moment", "The last position, time or day that is looked at; now otherwise"),
        Option.flag("open", "Open personal fields; that they were shown is on record"),
        Option.flag("complete", "Add the leaves of the whole log"),
        Option.value("out", "file", "Write it there; case-ID.jsonl otherwise"),
        Option.value("html", "file", "Write a page to print there"),
    ]
    static let operands = [
        Operand(
            "kind",
            "What it is about: "
                + IssuedCaseFile.About.allCases.map(\.rawValue).joined(separator: ", ")),
        Operand("id", "Its id; of an account also the mail address, of a client the name"),
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let question = try question(call)
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            try await write(question, requests, call)
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        return .success
    }

    private func question(_ call: Invocation) throws(UsageError) -> JSONObject {
        let arguments = call.arguments
        guard let kind = arguments.words["kind"]?.first, let id = arguments.words["id"]?.first,
            IssuedCaseFile.About(rawValue: kind) != nil
        else {
            throw UsageError(
                "the first word must be one of "
                    + IssuedCaseFile.About.allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard let reason = arguments.value("reason") else {
            throw UsageError("--reason is missing: it says why the case file is asked for")
        }
        var values: JSONObject = [
            "realm": .string(try RealmOption(call).realm.name),
            "about": ["kind": .string(kind), "id": .string(id)], "reason": .string(reason),
            "open": .bool(arguments.has("open")), "complete": .bool(arguments.has("complete")),
        ]
        values["until"] = try arguments.value("until").map { text throws(UsageError) in
            .string(try TimeWords.moment(text))
        }
        return values
    }

    private func write(
        _ asked: JSONObject, _ requests: AdminRequests, _ call: Invocation
    ) async throws {
        var question = asked
        try await resolve(&question, requests)
        let job = try await requests.read("createCaseFile", question)
        guard let id = job["id"]?.string.flatMap({ UUID($0) }), let realm = asked["realm"] else {
            throw CommandFailure("the answer names no case file")
        }
        let names: JSONObject = ["realm": realm, "case_id": .string(id.description)]
        try await make(id, names, requests, call.console)
        let html = call.arguments.value("html")
        if let html { try await download(names, form: "page", to: html, requests) }
        let path = call.arguments.value("out") ?? (html == nil ? "case-\(id).jsonl" : nil)
        if let path { try await download(names, form: "lines", to: path, requests) }
        let made = try await requests.read("getCaseFile", names)
        for one in [html, path] { if let one { call.console.write("Wrote \(one).") } }
        call.console.write(
            "\(made["records"]?.integer ?? 0) records, \(made["opened"]?.integer ?? 0) opened; digest "
                + "\(made["digest"]?.string ?? "")")
    }

    private func resolve(_ question: inout JSONObject, _ requests: AdminRequests) async throws {
        guard question["about"]?["kind"] == "account",
            let written = question["about"]?["id"]?.string, written.contains("@"),
            let realm = question["realm"]
        else { return }
        let found = try await requests.read(
            "listAccounts", ["realm": realm, "Email": .string(written)])
        guard let id = found["items"]?.array?.first?["id"] else {
            throw CommandFailure("No account has the mail address \(written).")
        }
        question["about"] = ["kind": "account", "id": id]
    }

    /// Here, unless a server is at it already.
    private func make(
        _ id: UUID, _ names: JSONObject, _ requests: AdminRequests, _ console: Console
    ) async throws {
        let progress = Progress("case file", unit: "records", on: console)
        let rounds = CaseFileService.rounds(requests.store, try Models(requests.store).queries)
        try await rounds.make(
            id, "case file", progress, { $0.records },
            state: {
                let job = try await requests.read("getCaseFile", names)
                return (job, job["records"]?.integer ?? 0)
            })
    }

    private func download(
        _ names: JSONObject, form: String, to path: String, _ requests: AdminRequests
    ) async throws {
        var asked = names
        asked["form"] = .string(form)
        let response = await requests.response(of: "downloadCaseFile", asked)
        guard response.status.code < 300, let stream = response.stream else {
            throw AdminRequests.refusal(response)
        }
        let file = try DraftFile(path)
        do {
            try await stream.produce(BodyStream.Writer { try file.write($0) })
        } catch let failure as SystemFailure {
            throw failure
        } catch {
            throw CommandFailure(
                "\(path) could not be written as a whole: the case file changed meanwhile",
                remedy: "Ask for another one.")
        }
        try file.publish()
    }
}
