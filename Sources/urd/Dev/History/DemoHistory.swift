import API
import Cryptography
import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// A realm with a month of sign-ins in it, for those who try the tools of analysts: its people are made through the
/// admin API, and what they did goes through the log, all with times of the past.
final class DemoHistory: Sendable {
    static let realm = "history"
    private static let people = 2_000
    private static let seed: UInt64 = 20_261_127
    /// On their way to the log at once.
    private static let atOnce = 64
    /// Seconds: what happened within them is appended at once.
    private static let together: Int64 = 50

    private let store: Store
    private let console: Console
    private let data: DemoData
    private let start: Timestamp

    init(_ store: Store, _ console: Console) throws {
        self.store = store
        self.console = console
        let today = store.clock.now().seconds / 86_400
        let start = Timestamp(seconds: (today - Int64(HistoryPlan.days)) * 86_400)
        self.start = start
        // People are there before anything happens.
        let past = Mutex(start.adding(seconds: -3_600))
        data = try DemoData(store) {
            past.withLock { time in
                time = Timestamp(microseconds: time.microseconds + 20_000)
                return time
            }
        }
    }

    /// Nothing is done where the realm is there already, and whole.
    func prepare() async throws {
        guard
            try await data.ask(
                "createRealm",
                ["realm": .string(Self.realm), "display_name": "Demo history"],
                unless: "realm-exists") != nil
        else { return try await checkWhole() }
        let clients = HistoryClients(
            phone: try await client("phone", ["urn:cocoar:otp", "urn:cocoar:passkey"]),
            shop: try await client("shop", ["authorization_code"]),
            office: try await client("office", ["authorization_code"]))
        guard let realm = RealmID(Self.realm) else { throw Self.failure }
        let mint = try await store.mint(realm)
        let pseudonym: HistoryNetwork.Pseudonym = { mint.pseudonym(ofAddress: $0) }
        let people = try await people(pseudonym)
        let acts = HistoryPlan.acts(of: people, clients, from: start, seed: Self.seed, pseudonym)
        try await append(acts)
        // The last of it, by which a history that was cut off is known; it is of today.
        _ = try await DemoData(store).ask(
            "setRealmSettings", ["realm": .string(Self.realm), "native_grants": true])
        console.complain(
            "Demo history: \(people.count) people, \(acts.count) events, in the realm \(Self.realm)"
        )
    }

    private func client(
        _ name: String, _ grants: [String]
    ) async throws -> HistoryClients.Known {
        var members: JSONObject = [
            "realm": .string(Self.realm), "client_id": .string(name),
            "client_name": .string("Demo \(name)"), "token_endpoint_auth_method": "none",
            "grant_types": .array((grants + ["refresh_token"]).map { .string($0) }),
        ]
        if grants == ["authorization_code"] {
            members["redirect_uris"] = [.string("https://\(name).example/callback")]
        }
        _ = try await data.ask("registerClient", members)
        guard let realm = RealmID(Self.realm),
            let made = try await Models(store).queries.ask(ClientView.byClientID, name, in: realm)
        else { throw Self.failure }
        return HistoryClients.Known(id: made.id, name: name)
    }

    private func checkWhole() async throws {
        let settings = try await data.ask("getRealmSettings", ["realm": .string(Self.realm)])
        guard settings?["native_grants"] != true else { return }
        throw CommandFailure(
            "The demo history was cut off when it was made", remedy: "Start with --fresh.")
    }

    private static var failure: CommandFailure {
        CommandFailure("The demo history could not be made", remedy: "Start with --fresh.")
    }

    // MARK: - People

    private func people(
        _ pseudonym: HistoryNetwork.Pseudonym
    ) async throws -> [HistoryPerson] {
        var people: [HistoryPerson] = []
        var numbers = SeededNumbers(seed: Self.seed)
        for first in stride(from: 0, to: Self.people, by: 50) {
            console.complain("Demo history: \(first) of \(Self.people) people")
            let made = try await withThrowingTaskGroup(of: (Int, UUID).self) { group in
                for number in first..<min(first + 50, Self.people) {
                    group.addTask { (number, try await self.register(number)) }
                }
                var accounts: [Int: UUID] = [:]
                for try await (number, account) in group { accounts[number] = account }
                return accounts
            }
            for (number, account) in made.sorted(by: { $0.key < $1.key }) {
                people.append(person(number, account, &numbers, pseudonym))
            }
        }
        return people
    }

    private func register(_ number: Int) async throws -> UUID {
        let made = try await data.ask(
            "registerAccount",
            [
                "realm": .string(Self.realm), "email": .string(Self.email(number)),
                "first_name": .string("Person"), "last_name": .string("Number \(number)"),
                "confirmed": true,
            ])
        guard let id = made?["id"]?.string.flatMap({ UUID($0) }) else { throw Self.failure }
        return id
    }

    private static func email(_ number: Int) -> String { "person-\(number)@history.example" }

    private func person(
        _ number: Int, _ account: UUID, _ numbers: inout SeededNumbers,
        _ pseudonym: HistoryNetwork.Pseudonym
    ) -> HistoryPerson {
        // The last one has an account and does not use it.
        let rate =
            switch number {
            case Self.people - 1: 0.0
            case let number where number % 20 < 9: 0.9
            case let number where number % 20 < 16: 0.25
            default: 0.04
            }
        let devices = ["iPhone", "Android", "Mac", "Windows", "Linux"]
        let home = HistoryNetwork.any(using: &numbers, pseudonym)
        // An office of its own for each forty people.
        var office = SeededNumbers(seed: UInt64(number / 40))
        return HistoryPerson(
            account: account, email: Self.email(number), rate: rate,
            networks: [home, HistoryNetwork.any(using: &office, pseudonym)],
            devices: [devices[number % 2], devices[2 + number % 3]],
            hasPasskey: number % 3 == 0, hour: [7, 8, 9, 12, 17, 20][number % 6])
    }

    // MARK: - What happened

    /// Those of a few seconds at once: they may change places, as where nodes' clocks differ, and no others.
    private func append(_ acts: [HistoryAct]) async throws {
        guard let realm = RealmID(Self.realm) else { throw Self.failure }
        var numbers = SystemRandom()
        var (first, told) = (0, 0)
        while first < acts.count {
            try Task.checkCancellation()
            if first >= told {
                console.complain("Demo history: \(first) of \(acts.count) events")
                told += 10_000
            }
            let end = acts[first].at.adding(seconds: Self.together)
            let group = acts[first...].prefix(Self.atOnce).prefix { $0.at < end }
            let log = store.log
            let tasks: [Task<AppendOutcome, any Error>] = group.map { act in
                let commit = Commit(
                    realm: realm, command: .v7(at: act.at, using: &numbers),
                    origin: Origin(
                        actor: act.actor, address: act.address, at: act.at),
                    reads: act.reads, events: act.events)
                return Task.immediate { try await log.append(commit) }
            }
            for task in tasks {
                guard case .won = try await task.value else { throw Self.failure }
            }
            first += group.count
        }
    }
}
