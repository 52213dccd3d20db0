import EventSourcing
import Foundation
import Identity
import JSON
import Postgres
import Threads
import Values

/// What analysts ask of a long log, over HTTP, with load, server and PostgreSQL on one machine. `--users` says how
/// many people are in it, each with five events.
enum AnalystFigures {
    static let all = [
        Figures.Entry(
            name: "analysts",
            summary: "filtered page, as-of, whole realm, export and case file of a long log",
            isLong: true, measure: questions),
        Figures.Entry(
            name: "findings", summary: "what the rules for findings cost, and how soon they find",
            isLong: true, measure: FindingFigures.measure),
    ]

    private static func questions(_ workshop: Workshop) async throws -> [Figure] {
        let analyst = try AnalystServer(try await SignInFigures.open(3))
        defer { analyst.end() }
        let people = workshop.options.users ?? workshop.size(short: 20_000, full: 1_000_000)
        try await Population(of: analyst.server).settle(people, workshop.progress)
        let bench = AnalystBench(
            analyst: analyst, workshop: workshop, head: try await analyst.head())
        var figures: [Figure] = []
        let measures: [(name: String, measure: () async throws -> [Figure])] = [
            ("analyst-filter", bench.filter), ("analyst-as-of", bench.asOf),
            ("analyst-realm", bench.realm), ("analyst-export", bench.export),
            ("analyst-case", bench.caseFile),
        ]
        for (name, measure) in measures {
            do {
                figures += try await measure()
            } catch {
                figures.append(
                    Figure(name, name, nil, "", bar: .none, note: "Not measured: \(error)"))
            }
        }
        return figures
    }
}

private struct AnalystBench {
    let analyst: AnalystServer
    let workshop: Workshop
    let head: Int64

    private var rounds: Int { workshop.size(short: 3, full: 5) }
    private var log: String { "behind \(spoken(Double(head))) events" }

    func filter() async throws -> [Figure] {
        workshop.progress.begin("analyst-filter", rounds: rounds)
        let accounts = try analyst.accounts(workshop.size(short: 100, full: 500))
        let found = try await Rounds.run(rounds, workshop.progress) {
            let paths = accounts.enumerated().map { number, account in
                let list = number % 2 == 0 ? "audit-trail" : "login-history"
                return "/\(list)?limit=50&filter=account%20eq%20%22\(account)%22"
            }
            return try await DedicatedThread.run { try analyst.times(paths).percentile(0.99) }
        } limit: {
            try await DedicatedThread.run {
                let connection = try analyst.connection()
                let ask = Statement(
                    "ask",
                    """
                    select h.position, h.at from urd.login_history h
                    where h.realm = 'demo' and h.account = $1::text::uuid order by h.at limit 50
                    """)
                return try accounts.map { account in
                    var parameters = Parameters()
                    parameters.add(account)
                    return try seconds { try connection.execute(ask, parameters) } * 1000
                }.percentile(0.99)
            }
        }
        return [
            Figure(
                "analyst-filter",
                "a filtered page of an indexed attribute: 99 of 100 within, \(log)",
                found.medians.value, "ms",
                limit: .init(name: "the rows alone, in SQL", value: found.medians.limit),
                bar: .atMost(20))
        ]
    }

    func asOf() async throws -> [Figure] {
        workshop.progress.begin("analyst-as-of", rounds: rounds)
        let accounts = try analyst.accounts(workshop.size(short: 100, full: 500))
        let found = try await Rounds.run(rounds, workshop.progress) {
            let paths = accounts.map { "/as-of/\(head)/accounts/\($0)" }
            return try await DedicatedThread.run { try analyst.times(paths).percentile(0.99) }
        } limit: {
            let paths = accounts.map { "/events?limit=200&account=\($0)" }
            return try await DedicatedThread.run { try analyst.times(paths).percentile(0.99) }
        }
        return [
            Figure(
                "analyst-as-of", "an account as of a moment: 99 of 100 within, \(log)",
                found.median.value, "ms",
                limit: .init(name: "its events, as a list of them", value: found.median.limit),
                bar: .ratioAtMost(3))
        ]
    }

    func realm() async throws -> [Figure] {
        workshop.progress.begin("analyst-realm", rounds: rounds)
        let found = try await Rounds.run(rounds, workshop.progress) {
            let started = ContinuousClock.now
            let asked = try analyst.server.administer("POST", "/as-of/\(head)", "")
            let path = "/as-of-builds/\(asked["id"]?.string ?? "")"
            var state = asked["state"]?.string
            while state == "waiting" || state == "running" {
                try await Task.sleep(for: .milliseconds(20))
                state = try analyst.server.administer("GET", path, "")["state"]?.string
            }
            let took = (ContinuousClock.now - started) / .seconds(1)
            guard state == "ready" else { throw BenchmarkFailure("It is \(state ?? "nothing").") }
            try analyst.server.drop(path)
            // Its schema goes before the next one is measured.
            let left = "select count(*) from pg_namespace where nspname like 'analyst\\_at\\_%'"
            while try analyst.server.ask(left) != "0" {
                try await Task.sleep(for: .milliseconds(100))
            }
            return Double(head) / took
        } limit: {
            try await DedicatedThread.run {
                let connection = try analyst.connection()
                let scan =
                    "select count(data ->> 'account') from urd.event where realm = 'demo'"
                return try Double(head)
                    / seconds {
                        try connection.run("set max_parallel_workers_per_gather = 0; \(scan)")
                    }
            }
        }
        return [
            Figure(
                "analyst-realm", "a whole realm as of a moment, \(log)", found.medians.value,
                "events/s",
                limit: .init(
                    name: "one scan that reads a field of each", value: found.medians.limit),
                bar: .atLeast(300_000))
        ]
    }

    func export() async throws -> [Figure] {
        let last = min(head, Int64(workshop.size(short: 50_000, full: 500_000)))
        workshop.progress.begin("analyst-export", rounds: rounds)
        let found = try await Rounds.run(rounds, workshop.progress) {
            try await DedicatedThread.run {
                try Double(last)
                    / seconds { try analyst.download("/export?from=1&to=\(last)", to: "/dev/null") }
            }
        } limit: {
            try await DedicatedThread.run {
                let connection = try analyst.connection()
                return try Double(last)
                    / seconds {
                        try connection.copyOut(
                            """
                            copy (select position, at, command, data, meta, revision, sealed, stream,
                                subject, type, version, leaf from urd.event
                                where realm = 'demo' and position <= \(last) order by position) to stdout
                            """
                        ) { _ in }
                    }
            }
        }
        return [
            Figure(
                "analyst-export", "\(spoken(Double(last))) events as JSON lines over HTTP",
                found.median.value, "events/s",
                limit: .init(name: "COPY of the same rows to nowhere", value: found.median.limit),
                bar: .ratioAtLeast(0.25))
        ]
    }

    func caseFile() async throws -> [Figure] {
        let records = 1_000
        guard let account = try analyst.accounts(1).first, let id = Values.UUID(account) else {
            throw BenchmarkFailure("There is no account.")
        }
        var version =
            Int(
                try analyst.server.ask(
                    "select version from urd.stream where realm = 'demo' and stream = '\(account)'")
            )
            ?? 1
        for _ in 0..<(records / 50) {
            try await analyst.append("admin:benchmark", reads: [id: version]) { decision in
                for number in 0..<50 {
                    decision.append(
                        number % 2 == 0 ? AccountEvent.disabled() : .enabled, in: id, of: id)
                }
            }
            version += 50
        }
        try await analyst.follow()
        let file = "/tmp/urd-bench-case-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        workshop.progress.begin("analyst-case", rounds: rounds)
        let made = try await Rounds.run(rounds, workshop.progress) {
            let started = ContinuousClock.now
            let asked = try analyst.server.administer(
                "POST", "/cases",
                """
                {"about": {"kind": "account", "id": "\(account)"}, "reason": "A benchmark of cases"}
                """)
            let path = "/cases/\(asked["id"]?.string ?? "")"
            var state = asked["state"]?.string
            while state == "waiting" || state == "running" {
                try await Task.sleep(for: .milliseconds(20))
                state = try analyst.server.administer("GET", path, "")["state"]?.string
            }
            try await DedicatedThread.run { try analyst.download("\(path)/file", to: file) }
            return (ContinuousClock.now - started) / .seconds(1)
        } limit: {
            try await DedicatedThread.run {
                try analyst.times(["/events?limit=1000&account=\(account)"]).percentile(0.5) / 1000
            }
        }
        return [
            Figure(
                "analyst-case", "a case file of \(spoken(Double(records))) records, downloaded",
                made.medians.value, "s",
                limit: .init(name: "the events alone, as a list", value: made.medians.limit),
                bar: .atMost(2)),
            try await check(file),
        ]
    }

    /// By the verifier that knows nothing of Urd.
    private func check(_ file: String) async throws -> Figure {
        let verifier = "Tests/Interop/verify_log.py"
        guard FileManager.default.fileExists(atPath: verifier),
            let binary = ServeFigures.findBinary()
        else { throw BenchmarkFailure("There is no \(verifier) here.") }
        let names = ["URD_DATABASE_URL", "URD_DATABASE_OWNER_URL", "URD_MASTER_KEY_FILE"]
        let values = names.map { "\($0)=\(analyst.server.values[$0] ?? "")" }
        let key = try Program(["env"] + values + [binary, "log", "key", "--realm", "demo"]).run()
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let found = try await Rounds.run(rounds, workshop.progress) {
            try await DedicatedThread.run {
                try seconds {
                    try Program(["python3", "-B", verifier, "case", file, "--key", key]).run()
                }
            }
        } limit: {
            try await DedicatedThread.run {
                try seconds {
                    try Program([
                        "python3", "-c",
                        "import json, sys; [json.loads(line) for line in open(sys.argv[1])]", file,
                    ]).run()
                }
            }
        }
        return Figure(
            "analyst-case-check", "the same file checked offline by verify_log.py",
            found.medians.value, "s",
            limit: .init(name: "reading its lines in Python", value: found.medians.limit),
            bar: .atMost(5))
    }
}

extension DevelopmentServer {
    /// The answer has no body.
    fileprivate func drop(_ path: String) throws {
        let request = """
            DELETE \(AnalystServer.place)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\
            Authorization: Bearer \(values["URD_ADMIN_KEY"] ?? "")\r\n\r\n
            """
        let answer = try Line(port: port).send(Array(request.utf8))
        guard answer.status == 204 else { throw answer.failure }
    }
}
