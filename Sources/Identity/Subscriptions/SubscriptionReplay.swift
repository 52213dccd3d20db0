internal import EventSourcing

/// What is sent again: the events of a range, or those that were given up.
public enum SubscriptionReplay: Sendable, Equatable {
    case range(from: Int64, to: Int64, types: [String])
    case givenUp
}

extension Field<SubscriptionReplay> {
    static let replay = mapped(
        .optional(.integer("from", "First position; all that was given up if it is missing.")),
        .optional(.integer("to", "Last position.")),
        .optional(.texts("types", "Types of events, or groups of them; all if it is empty.")),
        write: { replay in
            switch replay {
            case .range(let from, let to, let types): (from, to, types)
            case .givenUp: (nil, nil, nil)
            }
        },
        read: { from, to, types in
            guard let from else { return .givenUp }
            guard let to, let types else { return nil }
            return .range(from: from, to: to, types: types)
        })
}

/// A delivery that was tried as often as it is.
public struct GivenUpDelivery: Sendable, Equatable {
    public var position: Int64
    public var type: String
    public var attempts: Int64
    /// HTTP status of the last response; 0 without one.
    public var status: Int64

    public init(position: Int64, type: String, attempts: Int64, status: Int64) {
        self.position = position
        self.type = type
        self.attempts = attempts
        self.status = status
    }
}

extension Field<GivenUpDelivery> {
    static let delivery = record(
        .integer("position", "Position of the event that was to be delivered."),
        .text("type", "Type of that event."), .integer("attempts", "Number of delivery attempts."),
        .integer("status", "Status of the last answer; 0 if there was none."),
        make: { GivenUpDelivery(position: $0, type: $1, attempts: $2, status: $3) },
        take: { ($0.position, $0.type, $0.attempts, $0.status) })
}
