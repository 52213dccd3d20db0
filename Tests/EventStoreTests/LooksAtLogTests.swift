import EventSourcing
import JSON
import Testing
import Values

@testable import EventStore

private let zeroLeaf = LeafHash([UInt8](repeating: 0, count: LeafHash.length))!

/// A log in memory with some streams, which other nodes go on with, whose tail gets lost and whose keys are destroyed;
/// and a node that reads and looks at it. Each question is answered some time after it was asked, and each answer
/// arrives some time after it was given.
private struct ModelLog {
    struct Answer<Value> {
        let asked: Int
        var value: Value?
    }

    let realm: RealmID
    let streams = (1...4).map { UUID(high: 5, low: $0) }
    private let start = ContinuousClock.now
    private(set) var time = 0
    private(set) var epoch = 1
    private var erasures: Int64 = 0
    private var log: [UUID] = []
    /// How many events each stream had from a time on, and when it was read last before a key was destroyed.
    private var versions: [UUID: [(time: Int, version: Int)]] = [:]
    private var erasedAt = 0
    private var epochStart = 0
    private var readings: [(stream: UUID, answer: Answer<(count: Int, epoch: Int, at: Int)>)] = []
    private var look: Answer<LogMoves>?
    /// Where the log was at the look before.
    private var position: Int64 = 0
    let proofs = StreamProofs()

    init(_ realm: RealmID) { self.realm = realm }

    func instant(_ time: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(time)) }

    func version(_ stream: UUID, at time: Int) -> Int {
        versions[stream]?.last { $0.time <= time }?.version ?? 0
    }

    mutating func step(_ random: inout some RandomNumberGenerator) {
        time += 1
        let stream = streams.randomElement(using: &random) ?? .zero
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<4: append(stream)
        case 4: if Int.random(in: 0..<4, using: &random) == 0 { loseTail() }
        case 5: if Int.random(in: 0..<4, using: &random) == 0 { erase() }
        // The connection was lost: the next look begins at the start.
        case 6: if Bool.random(using: &random) { (look, position) = (nil, 0) }
        case 7..<20:
            if readings.count < 5 { readings.append((stream, Answer(asked: time))) }
        case 20..<35: answerReading(&random)
        case 35..<50: arrive(&random)
        default: goOnLooking()
        }
    }

    private mutating func append(_ stream: UUID) {
        log.append(stream)
        note(stream)
    }

    private mutating func note(_ stream: UUID) {
        versions[stream, default: []].append((time, log.count { $0 == stream }))
    }

    /// The log that is left is another one, to which something else may happen.
    private mutating func loseTail() {
        log.removeLast(min(log.count, 3))
        (epoch, epochStart) = (epoch + 1, time)
        for stream in streams { note(stream) }
    }

    private mutating func erase() {
        erasures += 1
        erasedAt = time
    }

    private mutating func answerReading(_ random: inout some RandomNumberGenerator) {
        guard let index = readings.indices.randomElement(using: &random),
            readings[index].answer.value == nil
        else { return }
        let stream = readings[index].stream
        readings[index].answer.value = (log.count { $0 == stream }, epoch, time)
    }

    private mutating func arrive(_ random: inout some RandomNumberGenerator) {
        guard let index = readings.indices.randomElement(using: &random),
            let read = readings[index].answer.value
        else { return }
        let (stream, answer) = readings.remove(at: index)
        let rows = (0..<read.count).map { number -> StreamProofs.Kept in
            // When it was read stands in it.
            (recorded(stream, version: number + 1, readAt: read.at), nil)
        }
        proofs.keep(rows, read.epoch, at: instant(answer.asked))
    }

    /// One look at a time: asked, answered, arrived.
    private mutating func goOnLooking() {
        guard let present = look else {
            look = Answer(asked: time)
            return
        }
        guard let moves = present.value else {
            let behind = log.dropFirst(Int(position))
            let moves = LogMoves(
                realm: realm, epoch: Int32(epoch), from: position, to: Int64(log.count),
                configuration: 0, erasures: erasures,
                streams: behind.count > 12 ? nil : Array(Set(behind)), at: instant(present.asked))
            look?.value = moves
            return
        }
        // One in thirty is lost.
        if time % 30 != 0 { proofs.note(moves, at: instant(time)) }
        (look, position) = (nil, moves.position)
    }

    private func recorded(_ stream: UUID, version: Int, readAt time: Int) -> Recorded {
        Recorded(
            realm: realm, position: Int64(time), stream: stream, version: version,
            name: "thing.made",
            revision: 1, at: Timestamp(microseconds: 0), command: .zero, subject: nil, actor: "",
            client: nil, correlation: nil, leaf: zeroLeaf, open: [:], personal: .none)
    }

    /// Nil where what is known is right. It is of the moment or later where it has no fewer events than the stream had
    /// then, and no more than now; and a key that was destroyed before the moment is not used.
    func fault(of known: StreamProofs.Known?, _ stream: UUID, since moment: Int) -> String? {
        guard let known, let events = known.opened({ _ in nil }), let first = events.first else {
            return nil
        }
        let then = version(stream, at: max(moment, epochStart))
        guard (then...version(stream, at: time)).contains(events.count) else {
            return "\(events.count) events, of \(then) to \(version(stream, at: time))"
        }
        guard erasedAt == 0 || moment <= erasedAt || Int(first.position) > erasedAt else {
            return "read at \(first.position), erased at \(erasedAt), asked for as of \(moment)"
        }
        return nil
    }
}

@Suite struct `A stream that a look at the log has shown to be as it was` {
    @Test(arguments: 0..<60)
    func `known streams are as they were at the moment or later, however answers cross`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var log = ModelLog(try #require(RealmID("one")))
        // Later than when they were read.
        var known = 0
        for _ in 0..<3_000 {
            log.step(&random)
            let stream = log.streams.randomElement(using: &random) ?? .zero
            let moment = Int.random(in: max(0, log.time - 40)...log.time, using: &random)
            let found = log.proofs.find(
                stream, in: log.realm, epoch: log.epoch, since: log.instant(moment))
            if let read = found?.opened({ _ in nil })?.first?.position, read < moment { known += 1 }
            if let fault = log.fault(of: found, stream, since: moment) {
                Issue.record("\(fault), seed \(seed), step \(log.time)")
                return
            }
        }
        #expect(known > 100)
    }
}
