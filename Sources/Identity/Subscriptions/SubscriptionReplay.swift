internal import EventSourcing
internal import JSON

/// What is sent again: the events of a range, or those that were given up.
public enum SubscriptionReplay: Sendable, Equatable {
    case range(from: Int64, to: Int64, types: [String])
    case givenUp

    var fields: JSONObject {
        switch self {
        case .range(let from, let to, let types):
            ["from": .integer(from), "to": .integer(to), "types": .texts(types)]
        case .givenUp: [:]
        }
    }

    init?(_ fields: JSONObject) {
        guard let from = fields["from"]?.integer else {
            self = .givenUp
            return
        }
        guard let to = fields["to"]?.integer, let types = fields.texts("types") else { return nil }
        self = .range(from: from, to: to, types: types)
    }

    static let eventFields: [EventField] = [
        .integer("from", "First position; all that was given up if it is missing.").optional,
        .integer("to", "Last position.").optional,
        .texts("types", "Types of events, or groups of them; all if it is empty.").optional,
        .integer("queued", "How many events were queued.").optional,
        .integer(
            "next", "Position that a longer range goes on from; nothing from it on was queued."
        )
        .optional,
    ]
}

/// A delivery that was tried as often as it is.
public struct GivenUpDelivery: Sendable, Equatable {
    public var position: Int64
    public var type: String
    public var attempts: Int64
    /// Of the last answer; 0 where there was none.
    public var status: Int64

    public init(position: Int64, type: String, attempts: Int64, status: Int64) {
        self.position = position
        self.type = type
        self.attempts = attempts
        self.status = status
    }

    var fields: JSONObject {
        [
            "position": .integer(position), "type": .string(type), "attempts": .integer(attempts),
            "status": .integer(status),
        ]
    }

    init?(_ fields: JSONObject) {
        guard let position = fields["position"]?.integer, let type = fields["type"]?.string,
            let attempts = fields["attempts"]?.integer, let status = fields["status"]?.integer
        else { return nil }
        self.init(position: position, type: type, attempts: attempts, status: status)
    }

    static let eventFields: [EventField] = [
        .integer("position", "Position of the event that was to be delivered."),
        .text("type", "Type of that event."),
        .integer("attempts", "How often it was tried."),
        .integer("status", "Status of the last answer; 0 if there was none."),
    ]
}
