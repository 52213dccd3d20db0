import Values

/// What laws know of things, by their ids. Now and then it forgets what is over, so that it is as large as what is alive
/// and not as large as the log.
final class Memory<Thing> {
    /// How many are kept at least, over or not: words about what ended lately are better than about what is unknown.
    private let least = 65_536
    private let isOver: (Thing, _ second: Int64) -> Bool
    private var things: [UUID: Thing] = [:]
    private var most: Int
    /// Whether a session, code or other thing was forgotten: then one that is not there may have been there.
    private(set) var hasForgotten = false

    init(until isOver: @escaping (Thing, _ second: Int64) -> Bool = { _, _ in false }) {
        self.isOver = isOver
        most = least
    }

    var isEmpty: Bool { things.isEmpty }
    var count: Int { things.count }
    var all: [UUID: Thing] { things }

    subscript(_ id: UUID) -> Thing? {
        _read { yield things[id] }
        _modify { yield &things[id] }
    }

    subscript(_ id: UUID?) -> Thing? { id.flatMap { things[$0] } }

    /// Changes a thing; false where there is none.
    func change(_ id: UUID, _ body: (inout Thing) -> Void) -> Bool {
        guard let index = things.index(forKey: id) else { return false }
        body(&things.values[index])
        return true
    }

    func begin(_ thing: Thing, _ id: UUID, at second: Int64) {
        things[id] = thing
        guard things.count > most else { return }
        let before = things.count
        things = things.filter { !isOver($0.value, second) }
        hasForgotten = hasForgotten || things.count < before
        most = max(least, 2 * things.count)
    }
}
