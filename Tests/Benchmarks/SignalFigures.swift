import EventSourcing
import Glibc
import Identity
import JOSE
import JSON
import Values

/// Security event tokens of events, beside what OpenSSL does when it does nothing but sign.
enum SignalFigures {
    static func tokens(_ workshop: Workshop) async throws -> [Figure] {
        var figures: [Figure] = []
        let processors = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let count = workshop.size(short: 3, full: 5)
        let event = try ended()
        for (algorithm, name) in [(SigningAlgorithm.rs256, "rsa2048"), (.es256, "ecdsap256")] {
            let key = try SigningKey.generate(algorithm)
            workshop.progress.begin("signals-push", rounds: count)
            let rounds = try await Rounds.run(count, workshop.progress) {
                try await rate(event, by: key, processors)
            } limit: {
                try OpenSSL.speed(name, processes: processors, seconds: 2).signed
            }
            figures.append(
                Figure(
                    "signals-push-\(algorithm.rawValue)",
                    "security event tokens of events, \(algorithm.rawValue)", rounds.median.value,
                    "/s",
                    limit: .init(name: "\(name) signatures, openssl", value: rounds.median.limit),
                    bar: algorithm == .rs256 ? .ratioAtLeast(0.8) : .none,
                    note: "On \(processors) processors, from the event to the signed text."))
        }
        return figures
    }

    private static func rate(
        _ event: Recorded, by key: SigningKey, _ processors: Int
    ) async throws -> Double {
        let began = ContinuousClock.now
        let done = try await withThrowingTaskGroup { group in
            for _ in 0..<processors {
                group.addTask {
                    var done = 0
                    while ContinuousClock.now - began < .seconds(2) {
                        _ = try token(event, by: key)
                        done += 1
                    }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(done) / ((ContinuousClock.now - began) / .seconds(1))
    }

    private static func ended() throws -> Recorded {
        guard let realm = RealmID("bench"), let leaf = LeafHash([UInt8](repeating: 1, count: 32))
        else { throw BenchmarkFailure("There is no such event.") }
        return Recorded(
            realm: realm, position: 48_211, stream: UUID(high: 1, low: 2), version: 2,
            name: "session.ended",
            revision: 1, at: Timestamp(seconds: 1_795_224_225), command: UUID(high: 3, low: 4),
            subject: nil,
            actor: "user:somebody", client: nil, correlation: nil, leaf: leaf,
            open: ["reason": "logged_out"], personal: .none)
    }

    private static func token(_ event: Recorded, by key: SigningKey) throws -> String {
        let facts = SignalFacts(account: event.command)
        guard let signal = SharedSignals.signals(for: event, knowing: facts).first else {
            throw BenchmarkFailure("The event amounts to nothing.")
        }
        let opaque = { (id: UUID) -> JSON in ["format": "opaque", "id": .string(id.description)] }
        let claims: JSON = [
            "iss": "https://id.example.com", "aud": "siem", "iat": .integer(event.at.seconds),
            "jti": .string(event.id.description), "txn": "1:48211",
            "sub_id": [
                "format": "complex",
                "user": [
                    "format": "iss_sub", "iss": "https://id.example.com",
                    "sub": .string(event.command.description),
                ],
                "session": opaque(event.stream), "tenant": opaque(event.command),
            ],
            "events": [
                signal.kind.uri: [
                    "event_timestamp": .integer(signal.at.seconds),
                    "initiating_entity": .string(signal.initiator.rawValue),
                    "reason_admin": ["en": .string(signal.reason)],
                ]
            ],
        ]
        return try JWS.sign(
            claims.canonical(), by: key, type: JWTType.securityEvent.rawValue)
    }
}
