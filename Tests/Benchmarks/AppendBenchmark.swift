import Glibc
import Cryptography
import EventSourcing
import EventStore
import JSON
import Postgres
import Synchronization
import Values

/// Appends through the committer: one realm, many callers, commands of two events with a version
/// check, one claim in four.
struct AppendBenchmark {
    let log: PostgresLog
    let realm: RealmID
    let callers: Int
    let eventsPerCommand: Int

    struct Result {
        let events: Int
        let seconds: Double
        let latencies: [Double]

        var rate: Double { Double(events) / seconds }

        func percentile(_ share: Double) -> Double {
            guard !latencies.isEmpty else { return 0 }
            return latencies.sorted()[min(latencies.count - 1, Int(Double(latencies.count) * share))]
        }
    }

    func run(seconds: Double) async throws -> Result {
        let deadline = ContinuousClock.now + .seconds(seconds)
        let started = ContinuousClock.now
        let results = try await withThrowingTaskGroup(of: (Int, [Double]).self) { group in
            for caller in 0..<callers {
                group.addTask { try await call(caller, until: deadline) }
            }
            var all: [(Int, [Double])] = []
            for try await result in group { all.append(result) }
            return all
        }
        let took = (ContinuousClock.now - started) / .seconds(1)
        return Result(
            events: results.reduce(0) { $0 + $1.0 }, seconds: took,
            latencies: results.flatMap(\.1))
    }

    private func call(
        _ caller: Int, until deadline: ContinuousClock.Instant
    ) async throws -> (Int, [Double]) {
        var random = SystemRandomNumberGenerator()
        var stream = UUID.v7(at: now(), using: &random)
        var version = 0
        var round = 0
        var events = 0
        var latencies: [Double] = []
        while ContinuousClock.now < deadline {
            round += 1
            let begun = ContinuousClock.now
            let outcome = try await log.append(
                commit(stream, version, round, caller, &random))
            latencies.append((ContinuousClock.now - begun) / .milliseconds(1))
            guard case .won = outcome else { throw BenchmarkFailure.lost("\(outcome)") }
            events += eventsPerCommand
            version += eventsPerCommand
            // A new client now and then, as life has it.
            if round % 8 == 0 {
                stream = UUID.v7(at: now(), using: &random)
                version = 0
            }
        }
        return (events, latencies)
    }

    private func commit(
        _ stream: UUID, _ version: Int, _ round: Int, _ caller: Int,
        _ random: inout SystemRandomNumberGenerator
    ) -> Commit {
        let events = (0..<eventsPerCommand).map { index in
            NewEvent(
                stream: stream, name: version + index == 0 ? "client.registered" : "client.updated",
                revision: 1,
                open: [
                    "client_id": .string(stream.description),
                    "metadata": [
                        "client_name": .string("Benchmark client \(caller)"),
                        "redirect_uris": ["https://app.example/callback"],
                        "grant_types": ["authorization_code", "refresh_token"],
                        "token_endpoint_auth_method": "client_secret_basic",
                    ],
                ])
        }
        return Commit(
            realm: realm, command: UUID.v7(at: now(), using: &random),
            origin: Origin(actor: "admin:benchmark", at: now()), reads: [stream: version],
            events: events,
            claims: round % 4 == 0
                ? [.take(Claim("client_id", "\(stream) \(round)"), for: stream)] : [])
    }
}

enum BenchmarkFailure: Error {
    case lost(String)
}

func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
}
