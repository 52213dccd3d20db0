import EventSourcing
import JSON
import Synchronization
import Values

/// One caller: writes streams of its own and a few that all share, takes and releases claims that
/// all want, now and then sends a command twice, and asks again until it knows how a command ended.
struct Caller {
    private static let slots = 32
    private static let sharedStreams: UInt64 = 4

    private let log: any EventLog
    private let realm: RealmID
    private let ledger: Ledger
    private let stop: Stop
    private var random: Sequence64
    private var versions: [UUID: Int] = [:]
    private var own: UUID
    private var held: [Int: UUID] = [:]

    init(log: any EventLog, realm: RealmID, ledger: Ledger, stop: Stop, seed: UInt64) {
        self.log = log
        self.realm = realm
        self.ledger = ledger
        self.stop = stop
        random = Sequence64(state: seed)
        own = random.identifier()
    }

    mutating func run(commands: Int) async {
        var sent = 0
        while sent < commands, !stop.isAsked.load(ordering: .relaxed) {
            sent += 1
            if random.chance(5) { own = random.identifier() }
            let stream =
                random.chance(15)
                ? UUID(high: 0x5AA5, low: random.next() % Self.sharedStreams) : own
            let (commit, effect) = commit(to: stream)
            guard let outcome = await send(commit) else { return }
            await note(outcome, commit, effect, stream)
        }
    }

    private enum Effect {
        case none
        case takes(Int)
        case releases(Int)
    }

    private mutating func commit(to stream: UUID) -> (Commit, Effect) {
        var open: JSONObject = ["number": .integer(Int64(random.next() >> 32))]
        var claims: [ClaimChange] = []
        var effect = Effect.none
        let slot = Int(random.next() % UInt64(Self.slots))
        let claim = Claim("slot", String(slot))
        if random.chance(25), held[slot] == nil {
            open["take"] = .integer(Int64(slot))
            claims = [.take(claim, for: stream)]
            effect = .takes(slot)
        } else if random.chance(30), let (slot, holder) = held.min(by: { $0.key < $1.key }) {
            open["release"] = .integer(Int64(slot))
            open["by"] = .string(holder.description)
            claims = [.release(Claim("slot", String(slot)), by: holder)]
            effect = .releases(slot)
        } else if random.chance(3) {
            // Of a stream that never was: nothing must come of it.
            let stranger = random.identifier()
            open["release"] = .integer(Int64(slot))
            open["by"] = .string(stranger.description)
            claims = [.release(claim, by: stranger)]
        }
        let events = (0...random.next() % 3).map { number in
            NewEvent(
                stream: stream, name: "thing.done", revision: 1,
                open: number == 0 ? open : ["number": .integer(Int64(number))])
        }
        let commit = Commit(
            realm: realm, command: random.identifier(), digest: [1],
            origin: Origin(actor: "system", at: Timestamp(microseconds: 1_795_225_283_123_456)),
            reads: [stream: versions[stream] ?? 0], events: events, claims: claims)
        return (commit, effect)
    }

    /// How a command ended. While the log cannot say, it is asked again under the same id. Nil:
    /// told to stop before it was known.
    private func send(_ commit: Commit, isRepeat: Bool = false) async -> AppendOutcome? {
        var mayBeThere = isRepeat
        while true {
            do throws(LogFailure) {
                let outcome = try await log.append(commit)
                if case .duplicate = outcome, !mayBeThere {
                    ledger.wrong(commit.command, "a repeat, though sent for the first time")
                }
                return outcome
            } catch {
                mayBeThere = true
                switch error {
                case .unavailable, .full, .busy, .contended, .fenced, .keyMissing: break
                case .misusedCommand, .refused, .damaged, .otherMasterKey:
                    ledger.wrong(commit.command, "\(error)")
                }
            }
            if stop.isAsked.load(ordering: .relaxed) { return nil }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private mutating func note(
        _ outcome: AppendOutcome, _ commit: Commit, _ effect: Effect, _ stream: UUID
    ) async {
        switch outcome {
        case .won(let positions), .duplicate(let positions):
            ledger.kept(commit.command, positions)
            versions[stream, default: 0] += commit.events.count
            switch effect {
            case .none: break
            case .takes(let slot): held[slot] = stream
            case .releases(let slot): held[slot] = nil
            }
            guard random.chance(10) else { return }
            // Whoever asks again asks later.
            var repeated = commit
            repeated.origin.at = commit.origin.at.adding(seconds: 1)
            guard let again = await send(repeated, isRepeat: true) else { return }
            if again != .duplicate(positions) { ledger.wrong(commit.command, "\(again)") }
        case .conflict:
            ledger.lost(commit.command)
            await catchUp(stream)
        case .taken:
            ledger.lost(commit.command)
        case .misused:
            ledger.wrong(commit.command, "misused")
        }
    }

    private mutating func catchUp(_ stream: UUID) async {
        let known = versions[stream] ?? 0
        let missed = try? await log.stream(stream, after: known, in: realm)
        if let last = missed?.last { versions[stream] = last.version }
    }
}

/// Numbers that a seed repeats (SplitMix64).
struct Sequence64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func identifier() -> UUID {
        UUID(high: next(), low: next())
    }

    /// True in so many of a hundred cases.
    mutating func chance(_ percent: UInt64) -> Bool { next() % 100 < percent }
}
