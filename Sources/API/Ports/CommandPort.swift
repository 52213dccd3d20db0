public import EventSourcing
public import Values

/// Where commands go and streams come from: a `Dispatcher`, whatever log it writes to.
public protocol CommandPort: Sendable {
    func dispatch<C: Command>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8], origin: Origin
    ) async throws -> Dispatched

    var events: any EventLog { get }
}

extension Dispatcher: CommandPort {
    public var events: any EventLog { log }
}
