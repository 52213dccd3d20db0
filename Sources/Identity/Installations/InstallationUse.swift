public import EventSourcing
public import JSON
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

public enum InstallationUseEvent: Event {
    /// It has everything that there was.
    case synchronized(UUID, at: Timestamp)

    public static let catalogue: [EventShape] = [
        EventShape(
            "installation.synchronized", .internal, "The installation has synchronized everything.",
            [.client, .time("synchronized_at", "When it finished.")])
    ]

    public var name: String { "installation.synchronized" }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .synchronized(let installation, let at):
            ["client": .uuid(installation), "synchronized_at": .integer(at.seconds)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "installation.synchronized", let installation = fields.uuid("client"),
            let at = fields.instant("synchronized_at")
        else { return nil }
        self = .synchronized(installation, at: at)
    }
}
