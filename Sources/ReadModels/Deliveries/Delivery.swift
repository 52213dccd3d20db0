public import EventSourcing
public import Values

/// A delivery that is not done yet, or was given up.
public struct Delivery: Sendable, Equatable {
    public var position: Int64
    /// Deliveries of one lane keep their order.
    public var lane: UUID
    public var type: String
    public var attempts: Int
    public var isReplay: Bool
    public var isGivenUp: Bool
    /// HTTP status of the last response; nil without one.
    public var status: Int?
    public var nextAt: Timestamp

    public init(
        position: Int64, lane: UUID, type: String, attempts: Int = 0, isReplay: Bool = false,
        isGivenUp: Bool = false, status: Int? = nil, nextAt: Timestamp
    ) {
        self.position = position
        self.lane = lane
        self.type = type
        self.attempts = attempts
        self.isReplay = isReplay
        self.isGivenUp = isGivenUp
        self.status = status
        self.nextAt = nextAt
    }

    /// The lane of an event: its stream, one for all, or one of its own.
    public static func lane(of stream: UUID, at position: Int64, in order: DeliveryOrder) -> UUID {
        switch order {
        case .stream: stream
        case .strict: .zero
        case .none: UUID(high: 0, low: UInt64(clamping: position))
        }
    }
}

public enum DeliveryOrder: String, Sendable {
    case stream
    case strict
    case none

    /// The lane of a row, of whose event the stream is known by an expression.
    static func lane(of row: String, stream: String, in order: String) -> String {
        """
        case \(order) when 'stream' then \(stream)
            when 'strict' then '00000000-0000-0000-0000-000000000000'::uuid
            else lpad(to_hex(\(row).position), 32, '0')::uuid end
        """
    }
}

/// One attempt to deliver an event.
public struct DeliveryAttempt: Sendable, Equatable {
    public var number: Int64
    public var position: Int64
    public var type: String
    public var at: Timestamp
    public var milliseconds: Int
    /// HTTP status of the response; 0 without one.
    public var status: Int
    /// `delivered`, or why not.
    public var outcome: String
    public var isReplay: Bool
    /// The first bytes of the response body.
    public var answer: String

    public static let delivered = "delivered"
    /// The type of a test message, which is in no log: its position is 0.
    public static let test = "urd.test"

    public init(
        number: Int64 = 0, position: Int64, type: String, at: Timestamp, milliseconds: Int,
        status: Int, outcome: String, isReplay: Bool, answer: String
    ) {
        self.number = number
        self.position = position
        self.type = type
        self.at = at
        self.milliseconds = milliseconds
        self.status = status
        self.outcome = outcome
        self.isReplay = isReplay
        self.answer = answer
    }
}

/// How far a subscription is.
public struct DeliveryProgress: Sendable, Equatable {
    public var cursor: LogCursor
    /// Positions that are delivered although an earlier event is not.
    public var done: [Int64] = []
    /// The time since which all attempts have failed.
    public var blockedSince: Timestamp?
    /// How often the receiver could not be reached.
    public var failures = 0
    public var restsUntil: Timestamp?
    public var halted: String?
    public var lastStatus: Int?

    public init(cursor: LogCursor) {
        self.cursor = cursor
    }
}
