import EventSourcing
import Identity
import JSON
import LogTesting
import Synchronization
import Testing
import Values

/// A session that is refreshed as the domain decides, with nothing but its events in between.
final class Family: StreamReader {
    private let realm: Realm
    private let client: Client
    private let account: Account
    private let events = Mutex<(state: Session, version: Int)>((Session(), 0))
    /// When the leaf was made or given again, to the microsecond: the record has whole seconds.
    private let given = Mutex<[Timestamp]>([])

    init(key: String? = nil) throws {
        func folded<State: StreamState>(_: State.Type, _ events: [State.Event]) -> State {
            events.reduce(into: State()) { $0.apply($1) }
        }
        realm = folded(
            Realm.self, [.created(displayName: "Acme"), .settingsChanged(["native_grants": true])])
        client = folded(Client.self, [try registered(nativeMetadata, secret: nil)])
        account = folded(Account.self, [registeredAccount()])
        apply(
            .opened(
                SessionTerms(
                    account: IdentityTests.account, stamp: 0, client: IdentityTests.client,
                    clientID: "web", app: nil, scope: ["openid", "offline_access"],
                    resources: [], factors: [.mailedCode], openedAt: noon,
                    expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: true, key: key)))
    }

    private func apply(_ event: SessionEvent) {
        events.withLock {
            $0.state.apply(event)
            $0.version += 1
        }
    }

    var state: Session { events.withLock { $0.state } }

    func read<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        let (session, version) = events.withLock { ($0.state, $0.version) }
        let all: [any StreamState] = [realm, client, account, session]
        guard let state = all.compactMap({ $0 as? State }).first else { throw .damaged }
        return Versioned(stream: stream, version: version, state: state)
    }

    /// The number of the token that is given for another; nil where none is.
    func refresh(_ token: Int, by key: String?, at now: Timestamp) async throws -> Int? {
        var command = RedeemGrant(
            RefreshGrant(session: session, generation: token),
            GrantRequest(
                client: IdentityTests.client, clientID: "web", proof: .none, session: .zero,
                now: now))
        command.request.keyProof = key.map { UsedProof(key: $0, id: "j", until: now) }
        let facts = try await command.gather(self)
        guard let settled = try? command.settle(facts) else { return nil }
        for event in settled.decision.events {
            // Through its stored form, as a node finds it that starts later.
            let stored = Recorded(
                realm: .system, position: 1, stream: session, version: 1, name: event.name,
                revision: event.revision, at: now, command: .zero, subject: event.subject,
                actor: "system", client: nil, correlation: nil, leaf: .standIn(session, 1),
                open: event.open, personal: .none)
            apply(try #require(SessionEvent(stored)))
        }
        let answer = try? settled.outcome.get().generation
        if answer != nil { given.withLock { $0 = $0.suffix(3) + [now] } }
        return answer
    }

    /// A pause of moments, minutes or hours, or one that ends where a leeway does, to the microsecond.
    func pause(after now: Timestamp, _ random: inout SeededRandom) -> Timestamp {
        let (state, given) = (events.withLock { $0.state }, given.withLock { $0 })
        let begun =
            given + [state.leafMadeAt, state.repeatedAt, state.refreshedAt].compactMap { $0 }
        if Bool.random(using: &random), let from = begun.randomElement(using: &random) {
            let seconds = Int64.random(in: 0...3, using: &random)
            let ends: [Int64] = [10, 11, 20, 21]
            let off: [Int64] = [-1_000, -1, 0, 1, 1_000]
            let end = from.adding(seconds: ends[Int(seconds)])
                .adding(microseconds: off.randomElement(using: &random) ?? 0)
            if end > now { return end }
        }
        let longest: [Int64] = [1, 9, 10, 11, 60, 600, 7200]
        let most = longest.randomElement(using: &random) ?? 1
        return now.adding(microseconds: Int64.random(in: 0...most * 1_000_000, using: &random))
    }

    /// How far two copies of one request are from each other: half a leeway at most.
    static func gap(_ random: inout SeededRandom) -> Int64 {
        let longest: [Int64] = [0, 1, 2, 1_000, 2_000, 1_000_000, 5_000_000]
        return Int64.random(in: 0...(longest.randomElement(using: &random) ?? 0), using: &random)
    }
}

/// A person who holds a token of the family, shows it, and may not get the answer.
struct Holder {
    var token: Int
    /// All that they ever held.
    var held: Set<Int>
    /// The key that they prove with each request.
    var key: String?

    init(_ token: Int, key: String? = nil) {
        self.token = token
        self.key = key
        held = [token]
    }

    mutating func take(_ token: Int) {
        self.token = token
        held.insert(token)
    }
}
