/// A dictionary of a fixed size, which evicts the least recently used entry. Every operation
/// takes constant time, however full it is.
struct LeastRecent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        var key: Key
        var value: Value
        /// The neighbours by use: an older one, and a newer one; -1 at the ends.
        var older: Int
        var newer: Int
    }

    private let capacity: Int
    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var oldest = -1
    private var newest = -1

    init(capacity: Int) {
        precondition(capacity > 0, "What holds nothing is of no use.")
        self.capacity = capacity
    }

    var count: Int { nodes.count }

    /// Looking a value up makes it the most recently used.
    mutating func value(of key: Key) -> Value? {
        guard let place = place(of: key) else { return nil }
        touch(place)
        return nodes[place].value
    }

    /// The same look-up for a part of the value, without a copy of the rest.
    mutating func part<Part>(of key: Key, _ part: (borrowing Value) -> Part?) -> Part? {
        guard let place = place(of: key) else { return nil }
        touch(place)
        return part(nodes[place].value)
    }

    mutating func set(_ value: Value, for key: Key) {
        if let place = places[key] {
            nodes[place].value = value
            return touch(place)
        }
        if nodes.count < capacity {
            nodes.append(Node(key: key, value: value, older: newest, newer: -1))
            link(nodes.count - 1)
            places[key] = nodes.count - 1
            return
        }
        let place = oldest
        places[nodes[place].key] = nil
        unlink(place)
        nodes[place].key = key
        nodes[place].value = value
        link(place)
        places[key] = place
    }

    /// The last used key is often used again: a comparison takes less than a look-up.
    private func place(of key: Key) -> Int? {
        newest >= 0 && nodes[newest].key == key ? newest : places[key]
    }

    private mutating func touch(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (nodes[place].older, nodes[place].newer)
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
    }

    private mutating func link(_ place: Int) {
        nodes[place].older = newest
        nodes[place].newer = -1
        if newest >= 0 { nodes[newest].newer = place } else { oldest = place }
        newest = place
    }
}
