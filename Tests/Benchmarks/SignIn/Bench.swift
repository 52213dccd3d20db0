import HTTP
import HTTPServer

/// A server that is measured, and the figure that it is measured for.
struct Bench: Sendable {
    let workshop: Workshop
    let server: DevelopmentServer
    let name: String
    let summary: String
    let expense: Expense

    static let callers = 64

    /// What a figure stands beside.
    enum Limit: Sendable {
        /// One-row commits into the same PostgreSQL.
        case commits
        /// The HTTP server when it has nothing to do.
        case plainAnswers
        /// OpenSSL on both processors when it does nothing but sign.
        case signatures(String)
        /// Something else that is measured in the same rounds.
        case other(String, @Sendable () async throws -> Double)

        var name: String {
            switch self {
            case .commits: "bare commits, 32 clients"
            case .plainAnswers: "600 constant bytes over HTTP"
            case .signatures(let algorithm): "\(algorithm) signatures, openssl"
            case .other(let name, _): name
            }
        }
    }

    init(_ workshop: Workshop, _ server: DevelopmentServer, _ name: String, _ summary: String) {
        self.workshop = workshop
        self.server = server
        self.name = name
        self.summary = summary
        expense = Expense(of: server)
    }

    func crowd(
        seconds: Double, _ work: @escaping @Sendable (Int) throws -> (() throws -> Void)
    ) async throws -> Crowd.Result {
        try await expense.count {
            let result = try await Crowd(callers: Self.callers).run(seconds: seconds, work)
            return (result, Double(result.latencies.count))
        }
    }

    func crowd(
        upTo times: Int, _ work: @escaping @Sendable (Int) throws -> ((Int) throws -> Void)
    ) async throws -> Crowd.Result {
        try await expense.count {
            let result = try await Crowd(callers: Self.callers).run(upTo: times, work)
            return (result, Double(result.latencies.count))
        }
    }

    /// Requests per second.
    func wrk(_ asking: Wrk.Asking, _ seconds: Double) async throws -> Double {
        try await expense.count {
            let rate = try Wrk.run(asking.url, script: asking.script, seconds: seconds)
            return (rate, rate * seconds)
        }
    }

    func figure(beside limit: Limit, bar: Double?, _ asking: Wrk.Asking) async throws -> Figure {
        try await figure(beside: limit, bar: bar) { try await wrk(asking, $0) }
    }

    /// Measures in turns: the figure, a bare commit, a plain answer, and the limit.
    func figure(
        beside limit: Limit, bar: Double?, _ measure: (Double) async throws -> Double
    ) async throws -> Figure {
        let count = workshop.size(short: 5, full: 7)
        let slice = workshop.size(short: 2, full: 10)
        let plain = try PlainServer()
        var values: [Double] = []
        var limits: [Double] = []
        var costs: [Cost.Round] = []
        workshop.progress.begin(name, rounds: count)
        for round in 0..<count {
            // What goes first changes, so that neither always bears the other's leftovers.
            let goesFirst = round % 2 == 0
            if goesFirst { values.append(try await measure(Double(slice))) }
            let beside = workshop.size(short: 1, full: 5)
            let commits = try expense.ofCommits {
                let rate = try server.commits(seconds: beside)
                return (rate, rate * Double(beside))
            }
            let answers = try plain.answers(seconds: beside)
            switch limit {
            case .commits: limits.append(commits.rate)
            case .plainAnswers: limits.append(answers.rate)
            case .signatures(let algorithm):
                limits.append(
                    try OpenSSL.speed(algorithm, processes: 2, seconds: beside).signed)
            case .other(_, let measure): limits.append(try await measure())
            }
            if !goesFirst { values.append(try await measure(Double(slice))) }
            if let sample = expense.sample {
                costs.append(
                    Cost.Round(
                        server: sample.server, database: sample.database, load: sample.load,
                        plainAnswer: answers.each, bareCommit: commits.each))
            }
            workshop.progress.advance("\(spoken(values.median)) beside \(spoken(limits.median))")
        }
        await plain.stop()
        let middle = Rounds(values: values, limits: limits).median
        return Figure(
            name, summary, middle.value, "/s",
            limit: .init(name: limit.name, value: middle.limit),
            bar: bar.map { .ratioAtLeast($0) } ?? .none, cost: Cost(rounds: costs))
    }
}

/// Our HTTP server with a handler that answers the same bytes.
private struct PlainServer {
    private let server: Server

    init() throws {
        let constant = [UInt8](repeating: 0x78, count: 600)
        server = try Server(Configuration()) { _ in
            Response(status: .ok, headers: Headers(), body: constant)
        }
    }

    func answers(seconds: Int) throws -> (rate: Double, each: Double) {
        try Expense.ofAnswers {
            let rate = try Wrk.run("http://127.0.0.1:\(server.port)/", seconds: Double(seconds))
            return (rate, rate * Double(seconds))
        }
    }

    func stop() async {
        await server.stop(drain: .seconds(1))
    }
}
