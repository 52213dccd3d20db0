import EventSourcing
import Identity
import JSON
import LogTesting
import Synchronization
import Testing
import Values

/// A session that is refreshed as the domain decides, with nothing but its events in between.
private final class Family: StreamReader {
    private let realm: Realm
    private let client: Client
    private let account: Account
    private let events = Mutex<(state: Session, version: Int)>((Session(), 0))

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
        return try? settled.outcome.get().generation
    }
}

/// A person who holds a token of the family, shows it, and may not get the answer.
private struct Holder {
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

/// Which keys the two of a history have.
private enum Keys: CaseIterable {
    case none
    /// The owner's client has one from the sign-in on.
    case ownersFromTheStart
    /// It begins to prove one some time later.
    case ownersLater
    case thiefs
    case bothFromTheStart
    case bothLater
    /// The thief took the key as well.
    case stolen

    var isOwners: Bool { self != .none && self != .thiefs }
    var isFromTheStart: Bool {
        self == .ownersFromTheStart || self == .bothFromTheStart || self == .stolen
    }
    var thiefs: String? {
        switch self {
        case .none, .ownersFromTheStart, .ownersLater: nil
        case .thiefs, .bothFromTheStart, .bothLater: "thief's"
        case .stolen: "owner's"
        }
    }

    func family() throws -> (Family, owner: Holder) {
        let key = isFromTheStart ? "owner's" : nil
        return (try Family(key: key), Holder(0, key: key))
    }
}

@Suite struct `A family of refresh tokens whose holders lose answers` {
    private static let leeway: Int64 = 10

    /// Moments, and pauses of seconds, minutes and hours.
    private func pause(_ random: inout SeededRandom) -> Int64 {
        let longest: [Int64] = [1, 9, 10, 11, 60, 600, 7200]
        return Int64.random(in: 0...longest[Int.random(in: 0..<7, using: &random)], using: &random)
    }

    /// An owner asks until an answer arrives: requests are lost on the way there, answers on the way back,
    /// and one may come several times at once. Between two requests the client may be one that proves a key.
    private func refreshHonestly(
        _ owner: inout Holder, _ family: Family, _ keys: Keys, _ now: inout Timestamp,
        _ random: inout SeededRandom
    ) async throws {
        let begun = now
        while true {
            if keys.isOwners, Int.random(in: 0..<100, using: &random) < 20 { owner.key = "owner's" }
            // After the bound of a day nobody promises anything.
            let isLast = now >= begun.adding(seconds: 72_000)
            let isLostThere = !isLast && Int.random(in: 0..<100, using: &random) < 30
            let isLostBack = !isLast && Int.random(in: 0..<100, using: &random) < 50
            if !isLostThere {
                var answers: [Int?] = []
                for _ in 0...Int.random(in: 0...2, using: &random) {
                    answers.append(try await family.refresh(owner.token, by: owner.key, at: now))
                }
                #expect(Set(answers).count == 1, "One lineage for all that came at once.")
                let answer = try #require(answers.randomElement(using: &random) ?? nil)
                if !isLostBack { return owner.take(answer) }
            }
            now = now.adding(seconds: pause(&random))
        }
    }

    @Test(arguments: 0..<10)
    func `a family of refresh tokens never ends by answers that its owner lost`(block: Int)
        async throws
    {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(block * 1000 + seed))
            let keys = try #require(Keys.allCases.randomElement(using: &random))
            var (family, owner) = try keys.family()
            var now = noon
            for _ in 0..<10 {
                now = now.adding(seconds: pause(&random))
                try await refreshHonestly(&owner, family, keys, &now, &random)
                try #require(family.state.end == nil, "seed \(random.seed)")
            }
            try #require(family.state.generation == owner.token, "seed \(random.seed)")
        }
    }

    /// What the histories with a thief have shown.
    private struct Sightings {
        var ended = 0
        var cut = 0
        /// The thief's request bound the session.
        var bound = 0
        /// A token without its key was refused, and its owner went on.
        var useless = 0
    }

    @Test func `a family of refresh tokens with a thief ends when its owner refreshes next`()
        async throws
    {
        var sightings = Sightings()
        for seed in 0..<6000 {
            try await steal(seed: UInt64(seed), &sightings)
        }
        // That the histories contain what they are about.
        #expect(sightings.ended > 1000, "\(sightings)")
        #expect(sightings.cut > 300, "\(sightings)")
        #expect(sightings.bound > 300, "\(sightings)")
        #expect(sightings.useless > 300, "\(sightings)")
    }

    /// What the decision has to be for a token and a key, in a family as it was before.
    private enum Verdict {
        case given
        case useless
        case ended
    }

    private func verdict(_ shown: Int, by key: String?, in before: Session) -> Verdict {
        let isItsKey = before.terms?.key == nil || before.terms?.key == key
        if shown == before.generation { return isItsKey ? .given : .useless }
        guard shown == before.parent else { return .ended }
        if isItsKey { return .given }
        // Of two who had the parent without a key one bound what it made.
        return shown < before.firstBound ?? 0 ? .ended : .useless
    }

    /// A token that was given before is given again for a moment only, and a repeat binds nothing.
    private func isRight(
        _ shown: Int, by key: String?, in before: Session, _ isMoment: Bool, _ after: Session
    ) -> Bool {
        let isAgain = after.generation == before.generation
        let binds = before.terms?.key == nil && after.terms?.key != nil
        return (!isAgain || isMoment && shown == before.parent)
            && (!binds || shown == before.generation && after.terms?.key == key)
    }

    private func steal(seed: UInt64, _ sightings: inout Sightings) async throws {
        var random = SeededRandom(seed: seed)
        let keys = try #require(Keys.allCases.randomElement(using: &random))
        var (family, owner) = try keys.family()
        var now = noon
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            try await refreshHonestly(&owner, family, keys, &now, &random)
        }
        // What the owner has, or what he was to get and the thief took on the way.
        var thief = Holder(family.state.generation)
        // The thief got a token, and the owner has not come since.
        var isSpoilt = false
        for _ in 0..<12 where family.state.end == nil {
            now = now.adding(seconds: pause(&random))
            let isTheft = Bool.random(using: &random)
            if keys.isOwners, Int.random(in: 0..<100, using: &random) < 20 { owner.key = "owner's" }
            // With the key or without it, as it serves.
            thief.key = Bool.random(using: &random) ? keys.thiefs : nil
            let before = family.state
            let isMoment =
                before.leafMadeAt.map { now < $0.adding(seconds: 2 * Self.leeway + 1) } ?? false
            let shown = isTheft ? thief.held.randomElement(using: &random) ?? 0 : owner.token
            let key = isTheft ? thief.key : owner.key
            let answer = try await family.refresh(shown, by: key, at: now)
            let after = family.state
            func why() -> Testing.Comment {
                "seed \(seed): \(shown) by \(key ?? "no key") of \(before) came, and \(after) is there"
            }
            switch verdict(shown, by: key, in: before) {
            case .useless:
                try #require(answer == nil && after.end == nil, why())
                try #require(after.generation == before.generation, why())
                try #require(isTheft, why())
                sightings.useless += 1
                continue
            case .ended:
                try #require(answer == nil && after.end == .reuse, why())
                // Where no theft had succeeded, the thief ended it and not the owner.
                try #require(isTheft || isSpoilt, why())
                sightings.ended += 1
                return
            case .given: break
            }
            let given = try #require(answer, why())
            try #require(after.end == nil && given == after.generation, why())
            let binds = before.terms?.key == nil && after.terms?.key != nil
            try #require(isRight(shown, by: key, in: before, isMoment, after), why())
            if binds, isTheft { sightings.bound += 1 }
            let isLost = Int.random(in: 0..<100, using: &random) < 40
            if isTheft {
                if !isLost { thief.take(given) }
                isSpoilt = true
            } else {
                // The living token is the owner's alone, however much the thief had got.
                if !isMoment || shown == before.generation {
                    try #require(!thief.held.contains(given), why())
                    if isSpoilt { sightings.cut += 1 }
                    isSpoilt = false
                }
                if !isLost { owner.take(given) }
                // What was lost to the owner need not be lost to the thief.
                if isLost, Bool.random(using: &random) {
                    thief.take(given)
                    isSpoilt = true
                }
            }
        }
        thief.key = keys.thiefs
        try await checkTheEnd(family, thief, owner, now.adding(seconds: 30), why: "seed \(seed)")
    }

    /// However it went on: when both come once more, one of them is refused and the family is over. A thief without the
    /// owner's key has nothing, and ends nothing.
    private func checkTheEnd(
        _ family: Family, _ thief: Holder, _ owner: Holder, _ now: Timestamp,
        why: Testing.Comment
    ) async throws {
        var (thief, owner, now) = (thief, owner, now)
        for _ in 0..<3 where family.state.end == nil {
            if let answer = try await family.refresh(thief.token, by: thief.key, at: now) {
                thief.take(answer)
            }
            now = now.adding(seconds: 30)
            if let answer = try await family.refresh(owner.token, by: owner.key, at: now) {
                owner.take(answer)
            }
            now = now.adding(seconds: 30)
        }
        let key = family.state.terms?.key
        if key == "owner's", thief.key != key, family.state.end == nil {
            return #expect(family.state.generation == owner.token, why)
        }
        #expect(family.state.end == .reuse, why)
    }
}
