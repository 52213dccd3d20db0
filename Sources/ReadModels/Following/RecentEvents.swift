public import EventSourcing
import JSON
import Synchronization

/// An event that many followers are sent: what was made of it for one of them is there for all.
public final class RecentEvent: Sendable {
    public let event: Recorded
    /// The cursor of a reader that has the event.
    public let cursor: LogCursor
    private let encodings = Mutex<[(form: String, bytes: [UInt8])]>([])

    init(_ event: Recorded, epoch: Int) {
        self.event = event
        cursor = LogCursor(epoch: epoch, position: event.position)
    }

    /// The event as it is written in one of the forms that the caller names.
    public func bytes(
        in form: String, _ encode: (Recorded, LogCursor) -> [UInt8]
    ) -> [UInt8] {
        encodings.withLock { encodings in
            if let known = encodings.first(where: { $0.form == form }) { return known.bytes }
            let made = encode(event, cursor)
            encodings.append((form, made))
            return made
        }
    }

    /// About what it takes up, with its encodings.
    fileprivate var size: Int { 1024 + 4 * (event.open.roughSize + event.actor.utf8.count) }
}

/// The newest events of a realm, without a gap: so many, and so much, and no more.
struct RecentEvents {
    static let capacity = 4096
    static let maximumSize = 8 * 1024 * 1024

    private(set) var epoch = 0
    /// The position of the first that is held; one behind the last where none is.
    private(set) var first: Int64 = 1
    private(set) var last: Int64 = 0
    private var size = 0
    /// Each stands where its position says.
    private var slots: [RecentEvent?]
    /// Those of which all events are held, at the place of their last one.
    private var blocks: [RecentBlock?]

    init() {
        slots = Array(repeating: nil, count: Self.capacity)
        blocks = Array(repeating: nil, count: Self.capacity / Int(RecentBlock.size))
    }

    /// Begins anew behind a position.
    mutating func begin(_ epoch: Int, after position: Int64) {
        for index in slots.indices { slots[index] = nil }
        for index in blocks.indices { blocks[index] = nil }
        self.epoch = epoch
        (first, last, size) = (position + 1, position, 0)
    }

    /// What is held is in the log of this epoch as well.
    mutating func move(to epoch: Int) {
        self.epoch = epoch
        for index in slots.indices {
            // With the epoch in it, as it is written.
            if let held = slots[index] { slots[index] = RecentEvent(held.event, epoch: epoch) }
        }
        for end in stride(from: first, through: last, by: 1)
        where end.isMultiple(of: RecentBlock.size) { close(through: end) }
    }

    mutating func append(_ event: Recorded) {
        precondition(event.position == last + 1, "The newest events have no gap.")
        let added = RecentEvent(event, epoch: epoch)
        last += 1
        if last - first >= Int64(Self.capacity) { dropFirst() }
        slots[Self.place(of: last)] = added
        size += added.size
        while size > Self.maximumSize, first < last { dropFirst() }
        if last.isMultiple(of: RecentBlock.size) { close(through: last) }
    }

    /// Makes a block of what ends here, where all of it is held.
    private mutating func close(through position: Int64) {
        let start = position - RecentBlock.size
        guard reach(back: start) else { return }
        blocks[Self.block(of: position)] = RecentBlock(held(after: start, through: position))
    }

    private mutating func dropFirst() {
        size -= slots[Self.place(of: first)]?.size ?? 0
        slots[Self.place(of: first)] = nil
        blocks[Self.block(of: first)] = nil
        first += 1
    }

    /// Whether all behind this position is held.
    func reach(back position: Int64) -> Bool { position >= first - 1 }

    /// Up to where the next block begins, and the block where they are one.
    func after(_ position: Int64, limit: Int) -> (events: [RecentEvent], block: RecentBlock?) {
        guard position < last, reach(back: position) else { return ([], nil) }
        let next = (position / RecentBlock.size + 1) * RecentBlock.size
        if next <= last, position.isMultiple(of: RecentBlock.size), RecentBlock.size <= limit,
            let block = blocks[Self.block(of: next)]
        {
            return (block.events, block)
        }
        return (held(after: position, through: min(last, next, position + Int64(limit))), nil)
    }

    private func held(after position: Int64, through last: Int64) -> [RecentEvent] {
        (position + 1...last).compactMap { slots[Self.place(of: $0)] }
    }

    private static func place(of position: Int64) -> Int { Int(position) & (capacity - 1) }

    /// The place of the block that a position is in; that of its last event where it is at the end.
    private static func block(of position: Int64) -> Int {
        place(of: position - 1) / Int(RecentBlock.size)
    }
}

extension JSONObject {
    fileprivate var roughSize: Int { reduce(0) { $0 + $1.key.utf8.count + $1.value.roughSize } }
}

extension JSON {
    fileprivate var roughSize: Int {
        switch self {
        case .null, .bool, .integer: 16
        case .string(let text): 16 + text.utf8.count
        case .array(let elements): elements.reduce(16) { $0 + $1.roughSize }
        case .object(let members): 16 + members.roughSize
        }
    }
}
