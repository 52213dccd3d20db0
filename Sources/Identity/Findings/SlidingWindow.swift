internal import Values

/// The newest entries of a stretch of time, in their order.
struct SlidingWindow<Entry: Sendable>: Sendable {
    typealias Element = (moment: EventMoment, entry: Entry)

    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }
    var all: ArraySlice<Element> { elements[start...] }
    var last: Element? { isEmpty ? nil : elements.last }

    /// - Parameter limit: maximum number of entries; older ones are dropped from the front.
    /// - Returns: the dropped entries.
    @discardableResult
    mutating func append(
        _ entry: Entry, at moment: EventMoment, since: Timestamp, limit: Int
    ) -> ArraySlice<Element> {
        elements.append((moment, entry))
        return drop(before: since, limit: limit)
    }

    @discardableResult
    mutating func drop(before since: Timestamp, limit: Int = .max) -> ArraySlice<Element> {
        let first = start
        while start < elements.count,
            elements[start].moment.time < since || elements.count - start > limit
        {
            start += 1
        }
        let dropped = elements[first..<start]
        if start > 32, start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return dropped
    }

    func since(_ time: Timestamp) -> [Element] { all.filter { $0.moment.time >= time } }

    mutating func removeAll(where isGone: (Entry) -> Bool) {
        elements = all.filter { !isGone($0.entry) }
        start = 0
    }
}

/// A window for each of many keys. Empty windows are dropped now and then.
struct KeyedWindows<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
    private var windows: [Key: SlidingWindow<Entry>] = [:]

    /// As many events as a finding rests on at most.
    static var limit: Int { 500 }

    var isEmpty: Bool { windows.isEmpty }

    /// - Returns: what the key's window is then.
    mutating func append(
        _ entry: Entry, of key: Key, at moment: EventMoment, seconds: Int64
    ) -> SlidingWindow<Entry> {
        let since = moment.time.adding(seconds: -seconds)
        windows[key, default: SlidingWindow()]
            .append(entry, at: moment, since: since, limit: Self.limit)
        return windows[key] ?? SlidingWindow()
    }

    subscript(key: Key) -> SlidingWindow<Entry> { windows[key] ?? SlidingWindow() }

    mutating func remove(_ key: Key) { windows[key] = nil }

    mutating func remove(of key: Key, where isGone: (Entry) -> Bool) {
        windows[key]?.removeAll(where: isGone)
    }

    mutating func forget(before time: Timestamp) {
        windows = windows.filter { $0.value.last.map { $0.moment.time >= time } ?? false }
    }

    mutating func removeAll() { windows = [:] }
}
