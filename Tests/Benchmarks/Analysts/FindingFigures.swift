import EventSourcing
import Identity
import JSON
import Telemetry
import Values

/// What the rules for findings cost those who append, and how soon they find.
enum FindingFigures {
    private static let callers = 64
    /// Tokens that are shown again: each is found by itself.
    private static let thefts = 200

    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        let with = try AnalystServer(try await SignInFigures.open(4))
        defer { with.end() }
        let without = try AnalystServer(try await SignInFigures.open(5))
        defer { without.end() }
        for rule in try without.server.administer("GET", "/finding-rules", "")["items"]?.array ?? []
        {
            let name = rule["rule"]?.string ?? ""
            _ = try without.server.administer(
                "PUT", "/finding-rules/\(name)", #"{"enabled": false}"#)
        }
        let count = workshop.size(short: 3, full: 7)
        let slice = Double(workshop.size(short: 2, full: 10))
        workshop.progress.begin("findings-cost", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await signIns(with, slice)
        } limit: {
            try await signIns(without, slice)
        }
        try await with.follow()
        return [
            Figure(
                "findings-cost", "sign-ins appended by \(callers) callers, with all rules on",
                rounds.median.value, "events/s",
                limit: .init(name: "with all rules off", value: rounds.median.limit),
                bar: .ratioAtLeast(0.95)), try await follow(with, workshop),
        ]
    }

    /// One in ten is refused; from so many networks that no rule finds an attack.
    private static func signIns(_ analyst: AnalystServer, _ seconds: Double) async throws -> Double
    {
        let start = ContinuousClock.now
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var done = 0
                    while ContinuousClock.now - start < .seconds(seconds) {
                        try await signIn(analyst, isRefused: done % 10 == caller % 10)
                        done += 1
                    }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(done) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func signIn(_ analyst: AnalystServer, isRefused: Bool) async throws {
        let now = Log.systemTime()
        var random = SystemRandomNumberGenerator()
        func id() -> UUID { .v7(at: now, using: &random) }
        let (session, account, client) = (id(), id(), id())
        let place = SignInPlace(source: id().description, device: "iPhone")
        try await analyst.append(reads: [session: 0]) { decision in
            if isRefused {
                decision.append(
                    SessionEvent.refused(
                        RefusedSignIn(
                            method: .nativeOTP, reason: "invalid_code", account: account,
                            client: client, clientID: "demo-native", app: nil, from: place)),
                    in: session)
            } else {
                decision.append(
                    SessionEvent.opened(terms(account, client, place, now)), in: session)
            }
        }
    }

    private static func terms(
        _ account: UUID, _ client: UUID, _ place: SignInPlace, _ now: Timestamp
    ) -> SessionTerms {
        SessionTerms(
            account: account, stamp: 0, client: client, clientID: "demo-native", app: nil,
            scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
            openedAt: now, expiresAt: now.adding(seconds: 30 * 86_400), isOffline: true,
            from: place, method: .nativeOTP)
    }

    /// From when a token was shown again to when that is on record as found, by the times of both events.
    private static func follow(_ analyst: AnalystServer, _ workshop: Workshop) async throws
        -> Figure
    {
        workshop.progress.begin("findings-follow", rounds: 1)
        let head = try await analyst.head()
        for _ in 0..<thefts {
            let now = Log.systemTime()
            var random = SystemRandomNumberGenerator()
            func id() -> UUID { .v7(at: now, using: &random) }
            let (session, account, client) = (id(), id(), id())
            try await analyst.append(reads: [session: 0]) { decision in
                decision.append(
                    SessionEvent.opened(terms(account, client, SignInPlace(), now)), in: session)
                decision.append(SessionEvent.ended(.reuse), in: session)
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        // Each position once: what asks is on the same processors.
        let found = """
            from (
                select f.at, (f.data -> 'positions' ->> -1)::bigint as position from urd.event f
                where f.realm = 'demo' and f.position > \(head) and f.type = 'finding.raised'
                    and f.data ->> 'rule' = 'token_reuse' offset 0
            ) f join lateral (
                select e.at from urd.event e where e.realm = 'demo' and e.position = f.position
            ) e on true
            """
        let deadline = ContinuousClock.now + .seconds(30)
        while try Int(analyst.server.ask("select count(*) \(found)")) ?? 0 < thefts,
            ContinuousClock.now < deadline
        {
            try await Task.sleep(for: .milliseconds(100))
        }
        let raised = Int(try analyst.server.ask("select count(*) \(found)")) ?? 0
        let late = try analyst.server.ask(
            """
            select percentile_disc(0.99) within group (
                order by extract(epoch from f.at - e.at) * 1000)::text \(found)
            """)
        let limit = try analyst.times(Array(repeating: "/findings?limit=1", count: 200))
        return Figure(
            "findings-follow", "from an event to its finding: 99 of 100 within",
            raised == thefts ? Double(late) : nil, "ms",
            limit: .init(name: "p99 of reading one finding", value: limit.percentile(0.99)),
            bar: .atMost(100),
            note: "\(raised) of \(thefts) were found; by the times that the log has of both.")
    }
}
