import Values

/// What is known of each type of events, found by the bytes of its name.
struct TypeTable {
    private struct Entry {
        let name: [UInt8]
        let checks: [Check]
        let mayBegin: Bool
        let end: StreamEnd?
        var count: Int64 = 0
    }

    /// The first is of types that nothing is known of.
    private var entries: [Entry] = [Entry(name: [], checks: [], mayBegin: false, end: nil)]
    /// Numbers of entries, by the hash of their names; 0 where there is none.
    private var places = [Int](repeating: 0, count: 1 << 10)

    init(_ laws: [Law]) {
        var checks: [String: [Check]] = [:]
        for check in laws.flatMap(\.checks) {
            for type in check.types { checks[type.description, default: []].append(check) }
        }
        let beginnings = Set(Beginnings.types.map(\.description))
        let ends = StreamEnd.byType
        for name in Set(checks.keys).union(beginnings).union(ends.keys) {
            add(
                Entry(
                    name: Array(name.utf8), checks: checks[name] ?? [],
                    mayBegin: beginnings.contains(name), end: ends[name]))
        }
    }

    private mutating func add(_ entry: Entry) {
        let place = entry.name.withUnsafeBytes { find($0) }
        places[place] = entries.count
        entries.append(entry)
    }

    /// The number of a type, of which an event is counted.
    mutating func count(_ name: UnsafeRawBufferPointer) -> Int {
        let type = places[find(name)]
        entries[type].count += 1
        return type
    }

    func checks(_ type: Int) -> [Check] { entries[type].checks }
    func mayBegin(_ type: Int) -> Bool { entries[type].mayBegin }

    func end(_ type: Int, of event: Event) -> UInt32? {
        entries[type].end?.second(of: event).map { UInt32(clamping: $0) }
    }

    func count(named name: String) -> Int64 {
        entries[Array(name.utf8).withUnsafeBytes { places[find($0)] }].count
    }

    private func find(_ name: UnsafeRawBufferPointer) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in name { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        var place = Int(hash) & (places.count - 1)
        while places[place] != 0, !isNamed(places[place], name) {
            place = (place + 1) & (places.count - 1)
        }
        return place
    }

    private func isNamed(_ type: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let known = entries[type].name
        guard known.count == name.count else { return false }
        for index in 0..<known.count where known[index] != name[index] { return false }
        return true
    }
}
