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

    /// How often a second it is answered.
    func wrk(_ asking: Wrk.Asking, _ seconds: Double = 3) async throws -> Double {
        try await expense.count {
            let rate = try Wrk.run(asking.url, script: asking.script, seconds: seconds)
            return (rate, rate * seconds)
        }
    }

    /// Beside bare one-row commits into the same PostgreSQL.
    func againstCommits(
        bar: Double?, _ measure: (Double) async throws -> Double
    ) async throws -> Figure {
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin(name, rounds: count)
        let seconds = workshop.size(short: 4, full: 10)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await measure(Double(seconds))
        } limit: {
            try server.commits(seconds: seconds)
        }
        return figure(rounds, "bare commits, 32 clients", bar)
    }

    /// Beside OpenSSL on both processors when it does nothing but sign.
    func againstSignatures(
        _ algorithm: String, _ measure: () async throws -> Double
    ) async throws -> Figure {
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin(name, rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await measure()
        } limit: {
            try OpenSSL.speed(algorithm, processes: 2).signed
        }
        return figure(rounds, "\(algorithm) signatures, openssl", nil)
    }

    /// Beside the HTTP server when it has nothing to do.
    func againstHTTP(bar: Double?, _ asking: Wrk.Asking) async throws -> Figure {
        let constant = [UInt8](repeating: 0x78, count: 600)
        let plain = try Server(Configuration()) { _ in
            Response(status: .ok, headers: Headers(), body: constant)
        }
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin(name, rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await wrk(asking)
        } limit: {
            try Wrk.run("http://127.0.0.1:\(plain.port)/")
        }
        await plain.stop(drain: .seconds(1))
        return figure(rounds, "600 constant bytes over HTTP", bar)
    }

    private func figure(_ rounds: Rounds, _ limit: String, _ bar: Double?) -> Figure {
        Figure(
            name, summary, rounds.median.value, "/s",
            limit: .init(name: limit, value: rounds.median.limit),
            bar: bar.map { .ratioAtLeast($0) } ?? .none,
            note: expense.text)
    }
}
