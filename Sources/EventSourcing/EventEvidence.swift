public import JSON
public import Values

/// An event as it is shown to auditors who trust no party: its record, the hashes that lead to a signed root, and
/// what opens its personal fields, where that is to be shown.
public struct EventEvidence: Sendable, Equatable {
    public enum Personal: Sendable, Equatable {
        case none
        /// Personal fields stay sealed, since the request did not ask for them.
        case sealed
        /// With the sealed bytes, and the key of this one event.
        case opened(sealed: [UInt8], key: [UInt8], fields: JSONObject)
        /// Of an event whose key opens others as well: nothing can be handed out that proves them.
        case unprovable(fields: JSONObject)
        case erased
        case unreadable
    }

    public let position: Int64
    /// What is hashed into the leaf.
    public let record: [UInt8]
    /// RFC 6962, lowest first.
    public let path: [[UInt8]]
    public let personal: Personal

    public init(position: Int64, record: [UInt8], path: [[UInt8]], personal: Personal) {
        self.position = position
        self.record = record
        self.path = path
        self.personal = personal
    }
}

/// Some events, taken together.
public struct EventExtent: Sendable, Equatable {
    /// How much of a stream is among them.
    public struct Part: Sendable, Equatable {
        public let stream: UUID
        /// Versions.
        public let first: Int
        public let last: Int
        public let count: Int

        public init(stream: UUID, first: Int, last: Int, count: Int) {
            self.stream = stream
            self.first = first
            self.last = last
            self.count = count
        }

        public var isComplete: Bool { first == 1 && count == last }
    }

    /// In the order of their ids.
    public let streams: [Part]
    /// Whose personal data in them can be opened now.
    public let subjects: [UUID]
    /// Number of events whose personal fields can be opened.
    public let openable: Int64

    public init(streams: [Part], subjects: [UUID], openable: Int64) {
        self.streams = streams
        self.subjects = subjects
        self.openable = openable
    }
}
