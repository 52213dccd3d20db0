public import EventSourcing
public import Values

/// How far a realm's log is, and which streams it went on with since it was looked at before.
public struct LogMoves: Sendable {
    public let realm: RealmID
    public let epoch: Int32
    /// Where the log was at the look before.
    public let start: Int64
    public let position: Int64
    /// Where something last changed that every request looks at.
    public let configuration: Int64
    /// How often a subject's key was destroyed in the realm.
    public let erasures: Int64
    /// Those that moved behind `start`; nil where it is more than is worth telling.
    public let streams: [UUID]?
    /// The time of the request.
    public let moment: ContinuousClock.Instant

    public init(
        realm: RealmID, epoch: Int32, from start: Int64, to position: Int64, configuration: Int64,
        erasures: Int64, streams: [UUID]?, at moment: ContinuousClock.Instant
    ) {
        self.realm = realm
        self.epoch = epoch
        self.start = start
        self.position = position
        self.configuration = configuration
        self.erasures = erasures
        self.streams = streams
        self.moment = moment
    }
}
