public import JSON
public import Values

/// An event of which a scan over the log wants a few fields: its data is as it stands, not parsed.
public struct ScannedEvent: Sendable {
    public let position: Int64
    public let stream: UUID
    public let name: String
    public let at: Timestamp
    /// What was known of the request, where it was asked for.
    public let meta: [UInt8]
    public let data: [UInt8]

    public init(
        position: Int64, stream: UUID, name: String, at: Timestamp, meta: [UInt8], data: [UInt8]
    ) {
        self.position = position
        self.stream = stream
        self.name = name
        self.at = at
        self.meta = meta
        self.data = data
    }

    public init(_ event: Recorded) {
        self.init(
            position: event.position, stream: event.stream, name: event.name, at: event.at,
            meta: JSON.object(["actor": .string(event.actor)]).canonical(),
            data: JSON.object(event.open).canonical())
    }

    /// Nil where the JSON is invalid.
    public var open: JSONObject? { (try? JSON.parse(data))?.object }

    public var actor: String? { (try? JSON.parse(meta))?["actor"]?.string }
}
