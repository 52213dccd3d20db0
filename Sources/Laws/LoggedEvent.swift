public import Values

/// An event as it stands in the log: views of its bytes, which must outlive it.
public struct LoggedEvent {
    let position: Int64
    /// Microseconds since 1970.
    let at: Int64
    let command: UUID
    let stream: UUID
    let subject: UUID?
    let isSealed: Bool
    let type: UnsafeRawBufferPointer
    let version: Int32
    let data: UnsafeRawBufferPointer
    let meta: UnsafeRawBufferPointer

    public init(
        position: Int64, at: Int64, command: UUID, stream: UUID, subject: UUID?, isSealed: Bool,
        type: UnsafeRawBufferPointer, version: Int32, data: UnsafeRawBufferPointer,
        meta: UnsafeRawBufferPointer
    ) {
        self.position = position
        self.at = at
        self.command = command
        self.stream = stream
        self.subject = subject
        self.isSealed = isSealed
        self.type = type
        self.version = version
        self.data = data
        self.meta = meta
    }
}

/// What checks see of an event.
struct Event {
    let logged: LoggedEvent
    let data: Members

    var stream: UUID { logged.stream }
    /// Whole seconds since 1970, which is how ends are written.
    var second: Int64 { logged.at / 1_000_000 }
    var type: String { String(decoding: logged.type, as: UTF8.self) }

    func isAny(_ types: [StaticString]) -> Bool { types.contains { logged.type.isText($0) } }
    func `is`(_ type: StaticString) -> Bool { logged.type.isText(type) }

    /// Seconds from an end to this event, where they are more than a decision takes to be on record.
    func late(after end: Int64?) -> Int64? {
        guard let end, logged.at > (end + leeway) * 1_000_000 else { return nil }
        return second - end
    }
}

/// A decision is made before its events are on record: an end that lies between is no violation.
private let leeway: Int64 = 60
