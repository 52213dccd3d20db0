public import EventSourcing
internal import JSON
public import Testing
internal import Values

/// Random commits over few streams and few claims, so that they often meet: right versions and
/// wrong ones, repeats, misuse, claims in every state. Two logs must agree on all of it.
public struct RandomCommands: Sendable {
    private var random: SeededRandom
    private let realm: RealmID
    private var versions: [UUID: Int] = [:]
    private var sent: [Commit] = []

    public init(seed: UInt64, realm: RealmID) {
        random = SeededRandom(seed: seed)
        self.realm = realm
    }

    /// Sends the same commits to both logs and expects the same outcomes and events.
    public static func compare(
        _ left: some EventLog, _ right: some EventLog, seed: UInt64, count: Int,
        realm: RealmID = ConformanceRealm.fresh(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let difference = try await difference(left, right, seed: seed, count: count, realm: realm)
        if let difference {
            Issue.record("Seed \(seed): \(difference)", sourceLocation: sourceLocation)
        }
    }

    /// Where two logs first differ; nil where they agree on every outcome and every event.
    public static func difference(
        _ left: some EventLog, _ right: some EventLog, seed: UInt64, count: Int,
        realm: RealmID = ConformanceRealm.fresh()
    ) async throws -> String? {
        var commands = RandomCommands(seed: seed, realm: realm)
        for number in 0..<count {
            let commit = commands.next()
            let first = try await left.append(commit)
            let second = try await right.append(commit)
            guard Outcome(first) == Outcome(second) else {
                return "commit \(number): \(first) and \(second)"
            }
            commands.learn(commit, first)
        }
        let limit = count * 5
        let events = try await left.events(from: 1, limit: limit, in: realm)
        let others = try await right.events(from: 1, limit: limit, in: realm)
        // The log in memory has no records to hash: its leaves stand in for those.
        for (event, other) in zip(events, others) where event != other.with(event.leaf) {
            return "\(event) and \(other)"
        }
        let heads = (try await left.head(of: realm), try await right.head(of: realm))
        guard events.count == others.count, heads.0.position == heads.1.position,
            events.map(\.position) == Array(1..<heads.0.position + 1)
        else { return "\(events.count) and \(others.count) events, \(heads)" }
        return nil
    }

    /// An outcome without the epoch, which is each log's own.
    private enum Outcome: Equatable {
        case won(Int64, Int)
        case duplicate(Int64, Int)
        case misused
        case conflict
        case taken(String)

        init(_ outcome: AppendOutcome) {
            self =
                switch outcome {
                case .won(let positions): .won(positions.first, positions.count)
                case .duplicate(let positions): .duplicate(positions.first, positions.count)
                case .misused: .misused
                case .conflict: .conflict
                case .taken(let kind): .taken(kind)
                }
        }
    }

    mutating func next() -> Commit {
        if random.chance(10), let earlier = sent.randomElement(using: &random) {
            var again = earlier
            if random.chance(30) { again.digest = digest() }
            return again
        }
        var commit = Commit(
            realm: realm, command: UUID(high: random.next(), low: random.next()),
            digest: random.chance(50) ? digest() : [],
            origin: Origin(
                actor: "system", at: Timestamp(microseconds: Int64(sent.count) * 1_000)),
            reads: [:], events: [])
        for _ in 0..<Int.random(in: 0...3, using: &random) { read(stream(), into: &commit) }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let stream = stream()
            if commit.reads[stream] == nil { read(stream, into: &commit) }
            commit.events.append(event(in: stream))
        }
        // A log may ignore claims of a commit without events, so there are none.
        if !commit.events.isEmpty { addClaims(to: &commit) }
        return commit
    }

    private mutating func learn(_ commit: Commit, _ outcome: AppendOutcome) {
        if case .won = outcome {
            for event in commit.events { versions[event.stream, default: 0] += 1 }
        }
        sent.append(commit)
    }

    private mutating func stream() -> UUID {
        UUID(high: 7, low: UInt64.random(in: 1...5, using: &random))
    }

    private mutating func read(_ stream: UUID, into commit: inout Commit) {
        let version = versions[stream, default: 0]
        let offset = random.chance(92) ? 0 : Int.random(in: -1...1, using: &random)
        commit.reads[stream] = max(0, version + offset)
    }

    /// Of one kind, so that it is clear which of them is named when several are taken.
    private mutating func addClaims(to commit: inout Commit) {
        guard random.chance(60) else { return }
        let kind = random.chance(50) ? "a" : "b"
        var claims: Set<Claim> = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let claim = Claim(kind, String(UInt64.random(in: 1...4, using: &random)))
            guard claims.insert(claim).inserted else { continue }
            let stream = stream()
            switch Int.random(in: 0..<20, using: &random) {
            case 0: commit.claims += [.release(claim, by: stream), .take(claim, for: stream)]
            case 1...9: commit.claims.append(.release(claim, by: stream))
            default: commit.claims.append(.take(claim, for: stream))
            }
        }
    }

    private mutating func digest() -> [UInt8] {
        (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func event(in stream: UUID) -> NewEvent {
        let subject = UUID(high: 9, low: UInt64.random(in: 1...3, using: &random))
        let isPersonal = random.chance(30)
        return NewEvent(
            stream: stream, name: random.chance(50) ? "thing.done" : "thing.undone",
            revision: Int.random(in: 1...3, using: &random), subject: isPersonal ? subject : nil,
            open: [
                "number": .integer(Int64.random(in: JSON.exactIntegers, using: &random)),
                "text": .string(["", "a", "\u{e9}\u{1F600}", "\"\\\n"][Int(random.next() % 4)]),
            ], personal: isPersonal ? ["mail": "someone@example.org"] : [:])
    }
}
