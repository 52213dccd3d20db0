import Values

/// What one subscription has to deliver next, in which order: no clock, no database and no network, so
/// that every order of events can be tried.
///
/// Everything up to `position` is done with or parked. Behind it stands a window of what was read of the
/// log. A delivery that fails is parked in its lane, and what comes in that lane is parked behind it.
struct DeliveryQueue: Sendable {
    struct Parked: Sendable, Equatable {
        var position: Int64
        var lane: UUID
        var type: String
        var attempts: Int
        var isReplay: Bool
        var due: Timestamp
    }

    struct Item: Sendable, Equatable {
        let position: Int64
        let type: String
        let attempts: Int
        let isReplay: Bool
    }

    /// What has to be put on record with a step.
    struct Record: Sendable, Equatable {
        var parked: [Parked] = []
        var settled: [Int64] = []
    }

    private struct Entry {
        let position: Int64
        let lane: UUID
        let type: String
        let isWanted: Bool
        var isUnderWay = false
        var isDone: Bool

        var isFree: Bool { !isDone && !isUnderWay }
    }

    /// As many stand behind what holds the window up.
    static let windowLimit = 1000
    static let parkedLimit = 100_000

    let most: Int
    private(set) var position: Int64
    /// The next position that the log is read from.
    private(set) var next: Int64
    private var window: [Entry] = []
    private var lanes: [UUID: [Parked]] = [:]
    private var busy: Set<UUID> = []
    private var underWay = 0
    private(set) var parkedCount = 0
    private let done: Set<Int64>

    init(position: Int64, done: [Int64] = [], parked: [Parked] = [], most: Int) {
        self.position = position
        self.most = most
        self.done = Set(done)
        next = position + 1
        for one in parked.sorted(by: { $0.position < $1.position }) { park(one) }
    }

    var hasRoom: Bool {
        window.count < Self.windowLimit && parkedCount < Self.parkedLimit
    }

    /// Positions that are delivered although an earlier event is not. An unwanted event needs no entry.
    var doneAbove: [Int64] { window.filter { $0.isDone && $0.isWanted }.map(\.position) }

    var isIdle: Bool { underWay == 0 }

    /// Whether an event that was read is still to be delivered.
    var hasWork: Bool { parkedCount > 0 || window.contains { !$0.isDone } }

    /// Parks a delivery by its position in the log, but never before one that is under way.
    private mutating func park(_ one: Parked) {
        var lane = lanes[one.lane] ?? []
        let place = lane.lastIndex { $0.position <= one.position }.map { $0 + 1 } ?? 0
        let isStarted = !lane.isEmpty && busy.contains(one.lane)
        lanes[one.lane] = nil
        lane.insert(one, at: max(place, isStarted ? 1 : 0))
        lanes[one.lane] = lane
        parkedCount += 1
    }

    // MARK: - Steps

    /// Takes the next event of the log in.
    mutating func take(
        _ position: Int64, lane: UUID, type: String, isWanted: Bool, now: Timestamp,
        _ record: inout Record
    ) {
        precondition(position == next, "Nothing of the log is passed over.")
        next += 1
        var isDone = !isWanted || done.contains(position)
        if !isDone, lanes[lane] != nil {
            let parked = Parked(
                position: position, lane: lane, type: type, attempts: 0, isReplay: false, due: now)
            park(parked)
            record.parked.append(parked)
            isDone = true
        }
        window.append(
            Entry(position: position, lane: lane, type: type, isWanted: isWanted, isDone: isDone))
        advance()
    }

    /// Passes over what stands in the log up to a position: none of it is wanted.
    mutating func pass(through position: Int64) {
        guard position >= next else { return }
        for position in next...position {
            window.append(
                Entry(position: position, lane: .zero, type: "", isWanted: false, isDone: true))
        }
        next = position + 1
        advance()
    }

    /// What may be sent now; it is under way from then on. What is held back holds up its lane.
    mutating func start(
        at now: Timestamp, most limit: Int? = nil, isHeldBack: (Int64) -> Bool = { _ in false }
    ) -> [Item] {
        let most = limit ?? most
        var items: [Item] = []
        for (lane, waiting) in lanes where underWay < most && !busy.contains(lane) {
            guard let first = waiting.first, first.due <= now, !isHeldBack(first.position) else {
                continue
            }
            busy.insert(lane)
            underWay += 1
            items.append(
                Item(
                    position: first.position, type: first.type, attempts: first.attempts,
                    isReplay: first.isReplay))
        }
        var heldUp: Set<UUID> = []
        for index in window.indices {
            if underWay >= most { break }
            guard window[index].isFree else { continue }
            let entry = window[index]
            guard !busy.contains(entry.lane), lanes[entry.lane] == nil,
                !heldUp.contains(entry.lane)
            else { continue }
            if isHeldBack(entry.position) {
                heldUp.insert(entry.lane)
                continue
            }
            window[index].isUnderWay = true
            busy.insert(entry.lane)
            underWay += 1
            items.append(
                Item(position: entry.position, type: entry.type, attempts: 0, isReplay: false))
        }
        return items
    }

    /// The time at which the next parked event is due that is not under way.
    var nextDue: Timestamp? {
        lanes.lazy.filter { !busy.contains($0.key) }.compactMap { $0.value.first?.due }.min()
    }

    /// It was delivered, or will not be tried again: its lane goes on.
    mutating func settle(_ item: Item, _ record: inout Record) {
        guard let lane = release(item) else { return }
        if let first = lanes[lane]?.first, first.position == item.position {
            lanes[lane]?.removeFirst()
            if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
            parkedCount -= 1
            record.settled.append(item.position)
        } else if let index = place(of: item.position) {
            window[index].isDone = true
        }
        advance()
    }

    /// The delivery failed, and is retried at a time.
    mutating func fail(_ item: Item, until due: Timestamp, _ record: inout Record) {
        guard let lane = release(item) else { return }
        if var first = lanes[lane]?.first, first.position == item.position {
            first.attempts += 1
            first.due = due
            lanes[lane]?[0] = first
            record.parked.append(first)
            return
        }
        for index in window.indices where window[index].lane == lane && !window[index].isDone {
            let entry = window[index]
            let isFirst = entry.position == item.position
            let parked = Parked(
                position: entry.position, lane: lane, type: entry.type,
                attempts: isFirst ? 1 : 0, isReplay: false, due: due)
            park(parked)
            record.parked.append(parked)
            window[index].isDone = true
        }
        advance()
    }

    /// It was not tried in earnest: the receiver could not be reached at all.
    mutating func putBack(_ item: Item) {
        guard release(item) != nil else { return }
        if let index = place(of: item.position) {
            window[index].isUnderWay = false
        }
    }

    private mutating func release(_ item: Item) -> UUID? {
        let inWindow = place(of: item.position).map { window[$0] }
            .flatMap { $0.isUnderWay ? $0.lane : nil }
        let lane =
            inWindow
            ?? lanes.first { busy.contains($0.key) && $0.value.first?.position == item.position }?
            .key
        guard let lane, busy.remove(lane) != nil else { return nil }
        underWay -= 1
        return lane
    }

    /// Nothing is missing in the window.
    private func place(of position: Int64) -> Int? {
        guard let first = window.first?.position, position >= first, position < next else {
            return nil
        }
        return Int(position - first)
    }

    private mutating func advance() {
        let count = window.prefix { $0.isDone }.count
        guard count > 0 else { return }
        position = window[count - 1].position
        window.removeFirst(count)
    }
}
