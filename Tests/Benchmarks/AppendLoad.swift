import EventSourcing
import EventStore
import Glibc
import JSON
import Values

/// Callers that append to one realm: commands with a version check, one claim in four.
struct AppendLoad: Sendable {
    let log: PostgresLog
    let realm: RealmID
    var callers = 64
    var eventsPerCommand = 2
    /// How long each caller waits from the start of one command to the next. Nil: not at all.
    var pace: Duration?

    struct Result: Sendable {
        var events = 0
        var seconds = 0.0
        /// In milliseconds.
        var latencies: [Double] = []
        /// When a command's last position was known to its caller.
        var answers: [(position: Int64, at: ContinuousClock.Instant)] = []

        var rate: Double { Double(events) / max(seconds, 1e-9) }
    }

    func run(seconds: Double) async throws -> Result {
        let started = ContinuousClock.now
        let deadline = started + .seconds(seconds)
        var result = try await withThrowingTaskGroup(of: Result.self) { group in
            for caller in 0..<callers {
                group.addTask { try await call(caller, from: started, until: deadline) }
            }
            var sum = Result()
            for try await part in group {
                sum.events += part.events
                sum.latencies += part.latencies
                sum.answers += part.answers
            }
            return sum
        }
        result.seconds = (ContinuousClock.now - started) / .seconds(1)
        return result
    }

    private func call(
        _ caller: Int, from start: ContinuousClock.Instant, until deadline: ContinuousClock.Instant
    ) async throws -> Result {
        var sample = SampleClient(caller, seed: UInt64.random(in: 0 ... .max))
        var result = Result()
        // Spread over the pace, so that the callers don't march in step.
        var due = start + (pace ?? .zero) * caller / callers
        while true {
            if let pace {
                try await Task.sleep(until: due)
                due = max(due + pace, .now - pace)
            }
            let begun = ContinuousClock.now
            guard begun < deadline else { return result }
            let outcome = try await log.append(sample.next(eventsPerCommand, in: realm))
            let ended = ContinuousClock.now
            guard case .won(let at) = outcome else {
                throw BenchmarkFailure("a command did not win: \(outcome)")
            }
            result.latencies.append((ended - begun) / .milliseconds(1))
            result.answers.append((at.last, ended))
            result.events += at.count
        }
    }
}

/// The life of OAuth clients as commands: each is registered, changed a few times, and another one
/// comes.
struct SampleClient {
    private static let life = 8

    private var random: SampleRandom
    private let caller: Int
    private var stream = UUID.zero
    private var version = 0
    private var round = 0

    init(_ caller: Int, seed: UInt64) {
        self.caller = caller
        random = SampleRandom(state: seed)
    }

    mutating func next(_ count: Int, in realm: RealmID) -> Commit {
        if round % Self.life == 0 {
            stream = UUID.v7(at: now(), using: &random)
            version = 0
        }
        round += 1
        let events = (1...count).map { Self.event(stream, version: version + $0, caller) }
        let read = version
        version += count
        return Commit(
            realm: realm, command: UUID.v7(at: now(), using: &random),
            origin: Origin(actor: "admin:benchmark", at: now()), reads: [stream: read],
            events: events,
            claims: round % 4 == 0
                ? [.take(Claim("client_id", "\(stream) \(round)"), for: stream)] : [])
    }

    /// The fields that the domain writes.
    static func event(_ stream: UUID, version: Int, _ number: Int) -> NewEvent {
        var fields: JSONObject = [
            "client_name": .string("Benchmark client \(number)"),
            "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": ["https://app.example/callback"],
            "token_endpoint_auth_method": "client_secret_basic",
        ]
        if version == 1 {
            fields["client_id"] = .string(stream.description)
            fields["secret_digest"] = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
        }
        return NewEvent(
            stream: stream, name: version == 1 ? "client.registered" : "client.updated",
            revision: 1, open: fields)
    }
}

/// SplitMix64: no system call for each number.
struct SampleRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
}
