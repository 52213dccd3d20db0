public import EventSourcing
public import Values

/// What an installation says of its own work. It stands beside the client's stream, which nodes keep.
public struct InstallationUse: StreamState {
    public private(set) var synchronizedAt: Timestamp?

    public init() {}

    /// Follows from the client, so that it needs no look-up.
    public static func stream(of installation: UUID) -> UUID {
        UUID(high: installation.high, low: installation.low ^ 0x0000_7573_6500_0000)
    }

    public mutating func apply(_ event: InstallationUseEvent) {
        switch event {
        case .synchronized(_, let at): synchronizedAt = at
        }
    }
}

public enum InstallationUseEvent: FormedEvent {
    /// The installation has synchronized all data.
    case synchronized(UUID, at: Timestamp)

    package enum Form {
        package static let synchronized = EventForm(
            "installation.synchronized", .internal, .detail,
            "The installation has synchronized everything.", .client,
            .time("synchronized_at", "Time at which the synchronization finished."),
            make: InstallationUseEvent.synchronized)
    }

    public static let forms: EventForms<Self> = [Form.synchronized]

    public var written: WrittenEvent {
        switch self {
        case .synchronized(let installation, let at): Form.synchronized(installation, at)
        }
    }
}
