public import EventSourcing

/// What happens to a realm's log as such.
public enum LogEvent: FormedEvent {
    /// Checkpoints that were signed over a tail that the database lost no longer bind.
    case lossAccepted(AcceptedLoss)

    package enum Form {
        package static let lossAccepted = EventForm(
            AcceptedLoss.eventName, .audit, .object(.other),
            "An operator accepted that the log lost its signed tail.", .loss,
            make: LogEvent.lossAccepted)
    }

    public static let forms: EventForms<Self> = [Form.lossAccepted]

    public var written: WrittenEvent {
        switch self {
        case .lossAccepted(let loss): Form.lossAccepted(loss)
        }
    }
}

extension Field<AcceptedLoss> {
    fileprivate static let loss = whole(
        [
            .integer("epoch", "Epoch from which on checkpoints bind again."),
            .integer("head", "Position at which the log ended."),
            .integer("sealed", "Position up to which the log is what was signed."),
            .integer("size", "Size of the largest checkpoint that is given up."),
        ], write: \.fields, read: { AcceptedLoss($0) })
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
