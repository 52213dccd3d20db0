import Values

/// What was noted last of each of very many ids. Without buckets or boxes, because it is asked for every event.
struct NoteTable {
    struct Note {
        var id = UUID.zero
        /// The time of the last event of a stream, in microseconds, or the position of a command.
        var at: Int64 = 0
        /// The version of a stream; 0 in a free place of the table.
        var version: Int32 = 0
        /// The last moment for which the note is kept: a second since 1970, or a number of commands.
        var until = UInt32.max
    }

    private static let least = 1 << 16

    private var places = [Note](repeating: Note(), count: 1 << 12)
    private(set) var count = 0
    private var most = NoteTable.least
    private(set) var hasForgotten = false
    /// A client that chooses ids must not be able to choose their places here.
    private let seed = UInt64.random(in: 0 ... .max) | 1

    /// Notes an event, and gives what was noted before: version 0 for an id that was not met.
    /// - Parameter until: nil where the event says nothing of an end.
    mutating func note(
        _ id: UUID, version: Int32, at: Int64, until: UInt32?, now: Int64
    ) -> Note {
        let place = find(id)
        let before = places[place]
        places[place].id = id
        places[place].version = version
        places[place].at = at
        if let until { places[place].until = until }
        if before.version == 0 {
            count += 1
            if count > most { forget(at: now) }
            if count * 4 > places.count * 3 { fill(places.count * 2, with: places) }
        }
        return before
    }

    private mutating func forget(at now: Int64) {
        let alive = places.filter { $0.version != 0 && Int64($0.until) >= now }
        hasForgotten = hasForgotten || alive.count < count
        count = alive.count
        most = max(Self.least, 2 * count)
        var size = 1 << 12
        while count * 2 > size { size *= 2 }
        fill(size, with: alive)
    }

    private mutating func fill(_ size: Int, with notes: [Note]) {
        places = [Note](repeating: Note(), count: size)
        for note in notes where note.version != 0 { places[find(note.id)] = note }
    }

    private func find(_ id: UUID) -> Int {
        let mask = places.count - 1
        let mixed = (id.high ^ seed).multipliedFullWidth(by: id.low ^ 0x9E37_79B9_7F4A_7C15)
        var place = Int(truncatingIfNeeded: ((mixed.high ^ mixed.low) &* seed) >> 20) & mask
        while places[place].version != 0, places[place].id != id { place = (place + 1) & mask }
        return place
    }
}
