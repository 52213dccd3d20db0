import Values

/// The last version seen of every stream of a realm: a table without buckets or boxes, because it
/// is asked for every event and holds every stream there is.
struct VersionTable {
    private struct Slot {
        var stream = UUID.zero
        /// The version; 0 for a free slot.
        var version: Int32 = 0
    }

    private var slots = [Slot](repeating: Slot(), count: 1 << 12)
    private(set) var count = 0
    /// A client that chooses stream ids must not be able to choose their places here.
    private let seed = UInt64.random(in: 0 ... .max) | 1

    /// Notes a version, which is not 0, and gives the one before: 0 for a stream not seen before.
    mutating func note(_ version: Int32, of stream: UUID) -> Int32 {
        let slot = find(stream)
        let before = slots[slot].version
        slots[slot] = Slot(stream: stream, version: version)
        if before == 0 {
            count += 1
            if count * 4 > slots.count * 3 { grow() }
        }
        return before
    }

    subscript(stream: UUID) -> Int32 { slots[find(stream)].version }

    private func find(_ stream: UUID) -> Int {
        let mask = slots.count - 1
        let mixed = (stream.high ^ seed).multipliedFullWidth(by: stream.low ^ 0x9E37_79B9_7F4A_7C15)
        let folded = (mixed.high ^ mixed.low) &* seed
        var index = Int(truncatingIfNeeded: folded >> 20) & mask
        while slots[index].version != 0, slots[index].stream != stream {
            index = (index + 1) & mask
        }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for slot in old where slot.version != 0 { slots[find(slot.stream)] = slot }
    }
}
