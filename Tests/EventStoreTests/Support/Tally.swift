import EventSourcing
import JSON
import Values

/// A domain of one number, for tests of decisions.
enum TallyEvent: Event {
    case added(Int64)

    static let catalogue = [
        EventShape(
            "tally.added", .audit, "The tally grew.",
            [.integer("amount", "How much was added.")])
    ]

    var name: String { "tally.added" }
    var subject: UUID? { nil }

    var fields: JSONObject {
        switch self {
        case .added(let amount): ["amount": .integer(amount)]
        }
    }

    init?(name: String, fields: JSONObject) {
        guard let amount = fields["amount"]?.integer else { return nil }
        self = .added(amount)
    }
}

struct Tally: StreamState {
    var total: Int64 = 0

    mutating func apply(_ event: TallyEvent) {
        switch event {
        case .added(let amount): total += amount
        }
    }
}

/// Doubles a tally: what it adds shows what it believed in. Refuses one that is over a limit.
struct DoubleTally: Command {
    let tally: UUID
    var limit: Int64 = .max

    enum Rejection: Error, Equatable {
        case over(Int64)
    }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Tally> {
        try await streams.read(Tally.self, tally)
    }

    func decide(_ facts: Versioned<Tally>) throws(Rejection) -> Decision {
        guard facts.state.total < limit else { throw .over(facts.state.total) }
        return Decision(TallyEvent.added(max(1, facts.state.total)), in: tally)
    }
}
