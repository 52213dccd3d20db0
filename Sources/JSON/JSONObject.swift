/// The members of a JSON object, ordered by their names.
///
/// It is used like a dictionary and is none: objects have a handful of members, are mostly written, and
/// are written in order. An array that is kept sorted is made, copied, compared and written without a
/// hash of anything.
public struct JSONObject: Sendable {
    public typealias Element = (key: String, value: JSON)

    private var members: [Element]

    public init() {
        members = []
    }

    /// An empty object with room for so many members.
    public init(capacity: Int) {
        members = []
        members.reserveCapacity(capacity)
    }

    /// Of a duplicate key, the last value counts.
    public init(_ elements: some Sequence<(String, JSON)>) {
        members = []
        members.reserveCapacity(elements.underestimatedCount)
        for (key, value) in elements { self[key] = value }
    }

    /// The index of a key, or the index at which it belongs.
    private func place(of key: String) -> (index: Int, isThere: Bool) {
        var low = 0
        var high = members.count
        // Members mostly come in order.
        if let last = members.last?.key, last < key { return (high, false) }
        while low < high {
            let middle = (low + high) / 2
            if members[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < members.count && members[low].key == key)
    }

    public subscript(key: String) -> JSON? {
        get {
            guard members.count > 8 else {
                // Among few it is found sooner one after the other.
                for index in members.indices where members[index].key == key {
                    return members[index].value
                }
                return nil
            }
            let place = place(of: key)
            return place.isThere ? members[place.index].value : nil
        }
        set {
            let place = place(of: key)
            switch (newValue, place.isThere) {
            case (let value?, true): members[place.index].value = value
            case (let value?, false):
                if members.capacity == 0 { members.reserveCapacity(8) }
                members.insert((key, value), at: place.index)
            case (nil, true): members.remove(at: place.index)
            case (nil, false): break
            }
        }
    }

    /// Takes over the members of another object.
    public mutating func merge(
        _ other: JSONObject, uniquingKeysWith combine: (JSON, JSON) throws -> JSON
    ) rethrows {
        if members.isEmpty {
            self = other
            return
        }
        for (key, value) in other.members {
            let place = place(of: key)
            if place.isThere {
                members[place.index].value = try combine(members[place.index].value, value)
            } else {
                members.insert((key, value), at: place.index)
            }
        }
    }

    public func merging(
        _ other: JSONObject, uniquingKeysWith combine: (JSON, JSON) throws -> JSON
    ) rethrows -> JSONObject {
        var merged = self
        try merged.merge(other, uniquingKeysWith: combine)
        return merged
    }

    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSON? {
        let place = place(of: key)
        return place.isThere ? members.remove(at: place.index).value : nil
    }

    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
        var kept = JSONObject()
        kept.members = try members.filter(isIncluded)
        return kept
    }

    public func mapValues(_ transform: (JSON) throws -> JSON) rethrows -> JSONObject {
        var changed = self
        for index in members.indices {
            changed.members[index].value = try transform(members[index].value)
        }
        return changed
    }

    public var keys: [String] { members.map(\.key) }
    public var values: [JSON] { members.map(\.value) }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        for (key, value) in members {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Of a duplicate key, the last value counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements)
    }
}

extension JSONObject {
    /// Members as they were read. Nil when a name stands twice.
    init?(read elements: some RandomAccessCollection<Element>) {
        members = Array(elements)
        // What Urd itself has written comes in order.
        if !isInOrder { members.sort { $0.key < $1.key } }
        guard isInOrder else { return nil }
    }

    private var isInOrder: Bool {
        for index in members.indices.dropFirst() where members[index - 1].key >= members[index].key
        {
            return false
        }
        return true
    }

    /// Sorted by the UTF-16 code units of the names, as RFC 8785 section 3.2.3 demands. For names in
    /// ASCII this is the order in which they are.
    var inCanonicalOrder: [Element] {
        for index in members.indices.dropFirst()
        where !precedesInUTF16(members[index - 1].key, members[index].key) {
            return members.sorted { precedesInUTF16($0.key, $1.key) }
        }
        return members
    }
}
