public import EventSourcing
public import JSON
public import Values

/// What happens to a realm's log as such.
public enum LogEvent: Event {
    /// Checkpoints that were signed over a tail that the database lost no longer bind.
    case lossAccepted(AcceptedLoss)

    public static let catalogue: [EventShape] = [
        EventShape(
            AcceptedLoss.eventName, .audit,
            "An operator accepted that the log lost its signed tail.",
            [
                .integer("epoch", "Epoch from which on checkpoints bind again."),
                .integer("head", "Position at which the log ended."),
                .integer("sealed", "Position up to which the log is what was signed."),
                .integer("size", "Size of the largest checkpoint that is given up."),
            ])
    ]

    public var name: String {
        switch self {
        case .lossAccepted: AcceptedLoss.eventName
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .lossAccepted(let loss): loss.fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == AcceptedLoss.eventName, let loss = AcceptedLoss(fields) else { return nil }
        self = .lossAccepted(loss)
    }
}

/// The losses of a realm's log that were accepted.
public struct LogLosses: StreamState {
    public private(set) var accepted: Set<AcceptedLoss> = []

    public init() {}

    public mutating func apply(_ event: LogEvent) {
        switch event {
        case .lossAccepted(let loss): accepted.insert(loss)
        }
    }
}
