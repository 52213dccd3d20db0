import EventSourcing
import Testing

/// What the database keeps of one realm, at one server: what each position holds, the epoch, and
/// where the epochs began. A standby, a dump and a snapshot are copies of it.
private struct Server {
    var log: [Int] = []
    var epoch = 1
    var starts: [EpochHistory.Start] = []
    var sealed = 0
    var system = 0
    var timeline = 1

    mutating func append(_ count: Int, _ next: inout Int) {
        for _ in 0..<count {
            log.append(next)
            next += 1
        }
    }

    /// As `urd.note_timeline` does before the first append.
    mutating func begin(epoch new: Int, sharing: Int? = nil) {
        epoch = new
        starts.append(.init(epoch: new, after: Int64(min(log.count, sharing ?? .max))))
    }

    var history: EpochHistory {
        EpochHistory(head: Head(epoch: epoch, position: Int64(log.count)), starts: starts)
    }
}

/// Somebody else's copy of the log, as far as they came.
private struct Reader {
    var cursor: LogCursor
    var has: [Int]

    init(_ server: Server, upTo position: Int) {
        cursor = LogCursor(epoch: server.epoch, position: Int64(position))
        has = Array(server.log.prefix(position))
    }
}

/// One fate of a realm: appends, standbys that lag, promotions, recoveries to a moment, dumps that
/// go on elsewhere, snapshots of a volume that nobody told the database of.
private struct Fate {
    var random: SplitMix
    var next = 1
    var server = Server()
    var copies: [Server] = []
    var timelines = [0: 1]
    var systems = 1
    var readers: [Reader] = []

    init(_ seed: UInt64) { random = SplitMix(seed: seed) }

    mutating func step() {
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<5: server.append(Int.random(in: 1...9, using: &random), &next)
        case 5..<7: readers.append(Reader(server, upTo: somewhere()))
        case 7: server.sealed = server.log.count
        case 8: copies.append(server)
        case 9: promote(server)
        case 10, 11: if let copy = copies.randomElement(using: &random) { promote(copy) }
        case 12: if let copy = copies.randomElement(using: &random) { loadElsewhere(copy) }
        default: setBack()
        }
    }

    private mutating func somewhere() -> Int {
        Int.random(in: 0...server.log.count, using: &random)
    }

    /// A standby, or a recovery to a moment: a timeline that the system never had.
    private mutating func promote(_ copy: Server) {
        server = copy
        let timeline = timelines[copy.system, default: 1] + 1
        timelines[copy.system] = timeline
        server.begin(epoch: copy.epoch + timeline - copy.timeline)
        server.timeline = timeline
    }

    private mutating func loadElsewhere(_ copy: Server) {
        server = copy
        server.system = systems
        server.timeline = 1
        systems += 1
        server.begin(epoch: copy.epoch + leap())
    }

    /// `urd.epoch_step`: no timeline tells the two logs apart.
    private mutating func leap() -> Int { Int.random(in: 1000..<100_000, using: &random) }

    /// Nodes append for a while before the sealer finds out. The copy of its checkpoint that shows it
    /// was signed in the epoch that went on, which is what makes it another epoch.
    private mutating func setBack() {
        guard let copy = copies.last(where: { $0.system == server.system }),
            copy.timeline == server.timeline
        else { return }
        let left = server.epoch
        server = copy
        server.append(Int.random(in: 0...4, using: &random), &next)
        server.begin(epoch: left + leap(), sharing: server.sealed)
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct `A reader's place after failovers and restores` {
    @Test func `a reader's place is valid while the log holds it, else tells what to keep`() {
        var (valid, lost) = (0, 0)
        for seed in 0..<3000 as Range<UInt64> {
            var fate = Fate(seed)
            for _ in 0..<60 { fate.step() }
            let (log, history) = (fate.server.log, fate.server.history)
            for reader in fate.readers {
                switch history.standing(of: reader.cursor) {
                case .valid:
                    valid += 1
                    #expect(log.starts(with: reader.has), "seed \(seed), \(reader.cursor)")
                case .beyondHead:
                    Issue.record("a reader of this log is not beyond it: seed \(seed)")
                case .lost(let kept):
                    lost += 1
                    #expect(kept < reader.cursor.position)
                    #expect(
                        log.prefix(Int(kept)) == reader.has.prefix(Int(kept)), "seed \(seed)")
                }
            }
        }
        // Both happen often, or this test says little.
        #expect(valid > 5000 && lost > 5000, "\(valid) valid, \(lost) lost")
    }

    @Test func `a failover that loses nothing is not noticed by any reader`() {
        var (server, next) = (Server(), 1)
        server.append(10, &next)
        let readers = (0...10).map { Reader(server, upTo: $0) }
        for epoch in 2...5 {
            server.begin(epoch: epoch)
            server.append(3, &next)
        }
        for reader in readers { #expect(server.history.standing(of: reader.cursor) == .valid) }
    }

    @Test func `a reader of a lost tail is told exactly where the tail began`() {
        var (server, next) = (Server(), 1)
        server.append(10, &next)
        let standby = server
        server.append(5, &next)
        let readers = [
            Reader(server, upTo: 10), Reader(server, upTo: 11), Reader(server, upTo: 15),
        ]
        server = standby
        server.begin(epoch: 2)
        server.append(20, &next)
        #expect(
            readers.map { server.history.standing(of: $0.cursor) }
                == [.valid, .lost(keptTo: 10), .lost(keptTo: 10)])
    }

    @Test func `a place in this epoch that the log has not come to is beyond its head`() {
        let history = EpochHistory(head: Head(epoch: 2, position: 7), starts: [])
        #expect(history.standing(of: LogCursor(epoch: 2, position: 8)) == .beyondHead)
        #expect(history.standing(of: LogCursor(epoch: 2, position: 7)) == .valid)
    }

    @Test func `an event is of the epoch in which it was appended`() {
        let history = EpochHistory(
            head: Head(epoch: 3, position: 120),
            starts: [.init(epoch: 2, after: 100), .init(epoch: 3, after: 50)])
        #expect([1, 50, 51, 100, 101].map(history.epoch(of:)) == [1, 1, 3, 3, 3])
        #expect(EpochHistory(head: Head(epoch: 1, position: 9), starts: []).epoch(of: 9) == 1)
    }

    @Test func `the start of the log is valid in every epoch`() {
        for epoch in [0, 1, 9] {
            let history = EpochHistory(
                head: Head(epoch: 5, position: 7), starts: [.init(epoch: 5, after: 0)])
            #expect(history.standing(of: LogCursor(epoch: epoch, position: 0)) == .valid)
        }
    }

    @Test(arguments: ["3:48211", "0:0", "1:0", "999999999:999999999999999"])
    func `a place has one text, which reads back`(text: String) {
        #expect(LogCursor(text)?.description == text)
    }

    @Test(arguments: [
        "", ":", "3", "3:", ":3", "03:1", "3:01", "-1:2", "+1:2", "3:1 ", "3:1:1", "1e1:1", "३:1",
        "1000000000:1", "1:1000000000000000",
    ])
    func `other texts are no place`(text: String) {
        #expect(LogCursor(text) == nil)
    }
}
