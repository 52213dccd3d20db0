import EventSourcing
import JSON
import Values

let testOrigin = Origin(actor: "system", at: Timestamp(microseconds: 1_795_225_283_000_000))

/// A domain of one counter, for tests.
enum CounterEvent: Event {
    case raised(by: Int64)
    case closed

    static let catalogue = [
        EventShape(
            "counter.raised", .audit, "The counter went up.",
            [.integer("by", "How much was added.")]),
        EventShape("counter.closed", .audit, "The counter takes no more."),
    ]

    var name: String {
        switch self {
        case .raised: "counter.raised"
        case .closed: "counter.closed"
        }
    }

    var subject: UUID? { nil }

    var fields: JSONObject {
        switch self {
        case .raised(let by): ["by": .integer(by)]
        case .closed: [:]
        }
    }

    init?(name: String, fields: JSONObject) {
        switch name {
        case "counter.raised":
            guard let by = fields["by"]?.integer else { return nil }
            self = .raised(by: by)
        case "counter.closed": self = .closed
        default: return nil
        }
    }
}

struct Counter: StreamState {
    var total: Int64 = 0
    var isClosed = false

    mutating func apply(_ event: CounterEvent) {
        switch event {
        case .raised(let by): total += by
        case .closed: isClosed = true
        }
    }
}

/// Raises a counter, up to a limit, unless it was closed.
struct RaiseCounter: Command {
    var counter: UUID
    var limit: Int64 = 1_000
    var claim: Claim?
    var epoch: Int?

    enum Rejection: Error, Equatable {
        case closed
        case full
        case taken(String)
    }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        try await streams.read(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision {
        guard !facts.state.isClosed else { throw .closed }
        guard facts.state.total < limit else { throw .full }
        var decision = Decision(CounterEvent.raised(by: 1), in: counter)
        if let claim { decision.take(claim, for: counter) }
        return decision
    }

    func rejection(takenClaim kind: String) -> Rejection { .taken(kind) }
}

/// Begins a counter under a name that nobody has.
struct BeginCounter: Command {
    var counter: UUID

    enum Rejection: Error, Equatable {
        case exists
    }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        try await streams.readNew(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision {
        guard !facts.exists else { throw .exists }
        return Decision(CounterEvent.raised(by: 1), in: counter)
    }
}

/// Begins a counter under a new name, and raises one that others raise too.
struct BeginAndRaise: Command {
    var fresh: UUID
    var counter: UUID

    enum Rejection: Error, Equatable {}

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        _ = try await streams.readNew(Counter.self, fresh)
        return try await streams.read(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision {
        var decision = Decision(CounterEvent.raised(by: 1), in: fresh)
        decision.append(CounterEvent.raised(by: 1), in: counter)
        return decision
    }
}

/// Begins a counter under a new name, by what another one says.
struct BeginBeside: Command {
    var fresh: UUID
    var counter: UUID

    enum Rejection: Error, Equatable {}

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        _ = try await streams.readNew(Counter.self, fresh)
        return try await streams.read(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision {
        Decision(CounterEvent.raised(by: facts.state.total), in: fresh)
    }
}

/// Closes a counter once.
struct CloseCounter: Command {
    var counter: UUID

    enum Rejection: Error, Equatable {
        case alreadyClosed
    }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        try await streams.read(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision {
        guard !facts.state.isClosed else { throw .alreadyClosed }
        return Decision(CounterEvent.closed, in: counter)
    }
}

/// Looks at a counter and does nothing.
struct LookAtCounter: Command {
    var counter: UUID

    enum Rejection: Error, Equatable {}

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Counter> {
        try await streams.read(Counter.self, counter)
    }

    func decide(_ facts: Versioned<Counter>) throws(Rejection) -> Decision { Decision() }
}

/// Raises a counter after looking at it, at some others, and at it again.
struct LookTwice: Command {
    var counter: UUID
    var others: [UUID]

    enum Rejection: Error, Equatable {}

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> [Int64] {
        var totals: [Int64] = []
        for stream in [counter] + others + [counter] {
            totals.append(try await streams.read(Counter.self, stream).state.total)
        }
        return totals
    }

    func decide(_ totals: [Int64]) throws(Rejection) -> Decision {
        Decision(CounterEvent.raised(by: totals.last == totals.first ? 1 : 1_000), in: counter)
    }
}
