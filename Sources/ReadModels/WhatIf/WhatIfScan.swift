public import EventSourcing
public import Identity
internal import Values

/// Tries a policy in one scan: pages are read ahead while the engine is at those before.
public struct WhatIfScan: Sendable {
    /// The events of some types behind a position and up to another, in their order.
    public typealias Read =
        @Sendable (_ after: Int64, _ through: Int64) async throws(LogFailure) -> [ScannedEvent]

    private let read: Read
    private let filter: FilterExpression?
    /// Positions in a page.
    private let page: Int64
    private static let ahead = 3

    public init(filter: FilterExpression?, page: Int64 = 4_000, read: @escaping Read) {
        self.filter = filter
        self.page = page
        self.read = read
    }

    /// - Parameter each: is told of each page, with the last position that the engine has seen.
    public func run(
        _ engine: inout WhatIfEngine, after start: Int64, until end: Int64,
        _ each: (WhatIfEngine, Int64) async throws -> Void
    ) async throws {
        var begun: [(last: Int64, task: Task<[PlacedFact], any Error>)] = []
        defer { for page in begun { page.task.cancel() } }
        var next = start
        while next < end || !begun.isEmpty {
            while next < end, begun.count < Self.ahead {
                let (after, last) = (next, min(end, next + page))
                begun.append((last: last, task: Task { try await facts(after, last) }))
                next = last
            }
            let (last, task) = begun.removeFirst()
            for fact in try await task.value { engine.take(fact) }
            try Task.checkCancellation()
            try await each(engine, last)
        }
    }

    private func facts(_ after: Int64, _ last: Int64) async throws -> [PlacedFact] {
        let events = try await read(after, last)
        var facts: [PlacedFact] = []
        facts.reserveCapacity(events.count)
        for event in events {
            if let fact = try PlacedFact(event, filter: filter) { facts.append(fact) }
        }
        return facts
    }
}
