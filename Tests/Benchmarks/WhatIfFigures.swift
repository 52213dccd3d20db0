import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import PostgresTesting
import ReadModels
import Threads
import Values

/// A policy that is tried on a log of sign-ins, beside one scan of the same log.
enum WhatIfFigures {
    private static let policy: JSON = [
        "require_second_factor": ["roles": ["admin"], "clients": ["shop"]],
        "allow_methods": ["passkey", "urn:cocoar:otp"], "countries": ["allow": ["CH", "DE"]],
        "networks": ["deny": ["AS64502"]], "hours": ["from": "06:00", "to": "22:00"],
        "devices": ["known_for": "1d"], "session_lifetime": "12h", "idle_lifetime": "1h",
        "max_sessions": 5, "lock_after": ["n": 10, "minutes": 15],
    ]

    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        let size = workshop.size(short: 150_000, full: 5_000_000)
        let store = try Store(workshop.bed.cluster.makeDatabase())
        defer { store.close() }
        try await LogFiller(store: store, sample: sample).fill(size) {
            workshop.progress.show("\($0) of \(size) events filled")
        }
        try workshop.bed.settle()
        let count = 5
        workshop.progress.begin("what-if", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            let started = ContinuousClock.now
            try await tryPolicy(on: store, size)
            return Double(size) / ((ContinuousClock.now - started) / .seconds(1))
        } limit: {
            try await DedicatedThread.run {
                try Double(size)
                    / seconds {
                        let connection = try Connection(store.database.owner)
                        try connection.run(
                            """
                            set max_parallel_workers_per_gather = 0;
                            select count(data ->> 'client_id') from urd.event where realm = 'bench'
                            """)
                    }
            }
        }
        return [
            Figure(
                "what-if", "ten rules tried on \(spoken(Double(size))) events of sign-ins",
                rounds.median.value, "events/s",
                limit: .init(
                    name: "one scan that reads a field of each", value: rounds.median.limit),
                bar: .ratioAtLeast(0.3))
        ]
    }

    private static func tryPolicy(on store: Store, _ size: Int) async throws {
        let read = try PolicyReader.policy(policy) { _ in nil }
        var engine = WhatIfEngine(read, isWhole: true, since: Timestamp(seconds: 0))
        let (log, realm) = (store.log, store.realm)
        let scan = WhatIfScan(filter: nil) { after, last throws(LogFailure) in
            try await log.scan(after: after, through: last, types: PolicyFact.types, in: realm)
        }
        var seen: Int64 = 0
        try await scan.run(&engine, after: 0, until: Int64(size)) { _, position in
            seen = position
        }
        let total = engine.result([:])["sign_ins"]?["total"]?.integer ?? 0
        guard seen == size, total == size / 10 * 5 else {
            throw BenchmarkFailure("It saw \(total) sign-ins up to \(seen).")
        }
    }

    /// Ten events: five sign-ins, two refreshes, a refusal, an end, and one that is none of its business.
    @Sendable private static func sample(
        _ stream: UUID, _ version: Int, _ position: Int
    ) -> (name: String, open: JSONObject) {
        let account = UUID(high: 0xACC, low: UInt64(position / 7 % 5_000))
        var fields: JSONObject = [
            "account": .string(account.description), "source": "q3Jx0a7bTn0y",
            "device": .string(["iPhone", "Mac", "Windows"][position % 3]),
            "country": .string(["CH", "DE", "US"][position / 3 % 3]),
            "asn": .integer(64_500 + Int64(position % 3)),
        ]
        switch version {
        case 1, 4, 7, 9: return ("session.opened", opened(fields, stream))
        case 2, 5: return ("session.refreshed", ["generation": 1, "refreshed_at": 1_795_694_400])
        case 3:
            fields["reason"] = "invalid_code"
            fields["method"] = "urn:cocoar:otp"
            fields["client"] = .string(stream.description)
            fields["client_id"] = "shop"
            return ("session.refused", fields)
        case 6:
            let event = SampleClient.event(stream, version: 2, position)
            return (event.name, event.open)
        case 8:
            fields["method"] = "passkey"
            fields["amr"] = ["hwk"]
            fields["opened_at"] = 1_795_694_400
            fields["expires_at"] = 4_000_000_000
            fields["stamp"] = 0
            return ("browser.opened", fields)
        default: return ("session.ended", ["reason": "logged_out"])
        }
    }

    private static func opened(_ place: JSONObject, _ client: UUID) -> JSONObject {
        place.merging([
            "amr": ["otp"], "client": .string(client.description), "client_id": "shop",
            "expires_at": 4_000_000_000, "method": "urn:cocoar:otp", "offline": true,
            "opened_at": 1_795_694_400, "resources": ["https://api.example.org"],
            "scope": ["openid", "profile", "offline_access"], "stamp": 0,
        ]) { $1 }
    }
}
