public import EventSourcing
public import Values

/// Where commands go and streams come from: a `Dispatcher`, with any log behind it.
public protocol CommandPort: Sendable {
    func dispatch<C: Command>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8], origin: Origin
    ) async throws -> Dispatched

    /// For a command with an answer; nil where the command id was carried out before.
    func ask<C: AnsweringCommand>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8], origin: Origin
    ) async throws -> (dispatched: Dispatched, outcome: C.Outcome?)

    var events: any EventLog { get }
}

extension Dispatcher: CommandPort {
    public var events: any EventLog { log }
}
