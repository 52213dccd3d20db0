import EventSourcing
import Synchronization

/// Newest events that stand together, from a multiple of `size` on: what is made of all of them for one
/// follower is there for all with its filter.
public final class RecentBlock: Sendable {
    /// How events are written that a filter wants, one behind the other.
    public struct Frames: Sendable {
        public let bytes: [UInt8]
        public let count: Int
        /// The position of the last of them.
        public let last: Int64?
    }

    static let size: Int64 = 64
    /// So many are kept: followers with filters of their own make theirs each time.
    private static let most = 4

    let events: [RecentEvent]
    private let kept = Mutex<[(group: Int, form: String, frames: Frames)]>([])

    init(_ events: [RecentEvent]) {
        self.events = events
    }

    func frames(
        of group: Int, _ filter: EventFilter?, in form: String,
        _ encode: (Recorded, LogCursor) -> [UInt8]
    ) -> Frames {
        kept.withLock { kept in
            if let known = kept.first(where: { $0.group == group && $0.form == form }) {
                return known.frames
            }
            var bytes: [UInt8] = []
            var count = 0
            var last: Int64?
            for recent in events where filter?.wants(recent.event) ?? true {
                bytes += encode(recent.event, recent.cursor)
                count += 1
                last = recent.event.position
            }
            let frames = Frames(bytes: bytes, count: count, last: last)
            if kept.count < Self.most { kept.append((group, form, frames)) }
            return frames
        }
    }
}
