public import EventSourcing
public import JSON
public import Values

/// What is told of the apps on an owner's devices.
public protocol DeviceQueries: Sendable {
    /// The streams of a realm's installations, in the order in which they were made.
    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID]

    /// What happened to an installation, by which evidence, and what it did; oldest first, from behind a
    /// position on. It follows the log at a small distance.
    func history(
        of installation: UUID, certifiedBy attestation: UUID?, in realm: RealmID,
        after position: Int64, limit: Int
    ) async throws(LogFailure) -> [DeviceHistoryEntry]
}

public struct DeviceHistoryEntry: Sendable, Equatable {
    public var position: Int64
    public var at: Timestamp
    /// The event's wire name.
    public var type: String
    public var stream: UUID
    public var actor: String
    /// The event's open fields.
    public var fields: JSONObject

    public init(
        position: Int64, at: Timestamp, type: String, stream: UUID, actor: String,
        fields: JSONObject
    ) {
        self.position = position
        self.at = at
        self.type = type
        self.stream = stream
        self.actor = actor
        self.fields = fields
    }
}
