import EventSourcing
import EventStore
import Foundation
import Identity
import Postgres
import Telemetry
import Values

/// People by the thousand, each with an account and a session that was refreshed twice: five events.
/// They come as from another node, through the log itself, and every read model follows.
struct Population: Sendable {
    let server: DevelopmentServer
    private let realm: RealmID
    private let database: Database
    private let log: PostgresLog

    private static let callers = 256

    init(of server: DevelopmentServer) throws {
        guard let realm = RealmID("demo") else { throw BenchmarkFailure("There is no realm.") }
        self.server = server
        self.realm = realm
        database = Database(
            server.values["URD_DATABASE_URL"] ?? "", session: PostgresLog.session)
        log = PostgresLog(database, keyring: Keyring(database, master: try server.masterKey()))
    }

    func settle(_ people: Int, _ progress: Progress) async throws {
        defer {
            log.close()
            database.close()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 1...Self.callers {
                group.addTask {
                    for number in stride(from: caller, through: people, by: Self.callers) {
                        if number % 1_000 == 0 {
                            progress.show("\(number) of \(people) people settled")
                        }
                        try await add(number)
                    }
                }
            }
            try await group.waitForAll()
        }
        progress.show("following")
        let behind = """
            select count(*) from urd.projection_build b
            join urd.projection_position p on p.projection = b.projection and p.build = b.build
            join urd.realm_log l on l.realm = p.realm
            where b.status = 'live' and not b.inline and p.realm = 'demo'
                and p.position < l.position
            """
        while try server.ask(behind) != "0" { try await Task.sleep(for: .milliseconds(500)) }
        progress.show("counting")
        // As PostgreSQL does by itself, which leaves events alone.
        let others = """
            select string_agg(format('%I.%I', schemaname, relname), ', ') from pg_stat_user_tables
            where relid <> 'urd.event'::regclass
            """
        _ = try server.ask("vacuum analyze \(server.ask(others))")
        _ = try server.ask("analyze urd.event")
    }

    private func add(_ number: Int) async throws {
        let now = Log.systemTime()
        var random = SystemRandomNumberGenerator()
        func id() -> Values.UUID { .v7(at: now, using: &random) }
        let (account, mailbox, session, client) = (id(), id(), id(), id())
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "demo-native", app: nil,
            scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
            openedAt: now, expiresAt: now.adding(seconds: 30 * 86_400), isOffline: true,
            method: .nativeOTP)
        var decision = Decision()
        decision.append(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .code,
                person: Person(email: "resident-\(number)@example.org")), in: account,
            of: account)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        decision.append(SessionEvent.opened(terms), in: session)
        for generation in 1...2 {
            decision.append(
                SessionEvent.refreshed(generation: generation, at: now), in: session)
        }
        _ = try await log.append(
            Commit(
                realm: realm, command: id(), origin: Origin(actor: "benchmark", at: now),
                reads: [account: 0, mailbox: 0, session: 0], events: decision.events))
    }
}

extension SignInFigures {
    /// The same figures where many people are known already, beside those of an empty log.
    static let crowded = Figures.Entry(
        name: "crowded", summary: "the figures of signing in with a million users",
        isLong: true
    ) { workshop in
        let (full, empty) = (try await open(1), try await open(2))
        defer {
            full.end()
            empty.end()
        }
        let people = workshop.options.users ?? workshop.size(short: 20_000, full: 1_000_000)
        try await Population(of: full).settle(people, workshop.progress)
        var figures: [Figure] = []
        for measured in measuredInACrowd {
            let (name, summary) = ("\(measured.name)-crowd", measured.summary)
            let there = try await measured.measure(Bench(workshop, full, name, summary))
            let here = try await measured.measure(Bench(workshop, empty, name, summary))
            figures.append(
                Figure(
                    name, "\(summary), with \(people) users", there.ratio, "x its limit",
                    limit: .init(name: "on an empty log", value: here.ratio ?? 0),
                    bar: .ratioAtLeast(0.8),
                    note: "cost quotient \(spoken(there.cost?.quotient ?? 0)), on an empty log "
                        + "\(spoken(here.cost?.quotient ?? 0))"))
        }
        return figures
    }
}
