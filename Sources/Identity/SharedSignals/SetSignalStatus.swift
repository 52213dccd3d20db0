public import EventSourcing
public import Values

/// Enables, pauses or disables a stream of signals.
public struct SetSignalStatus: Command {
    public var id: UUID
    /// Only if it is this client's; nil: the transmitter changes it by itself.
    public var client: UUID?
    public var status: SignalStatus
    public var reason: String?
    /// By which the realm's contact is told.
    public var mail: UUID?

    public init(
        id: UUID, client: UUID?, status: SignalStatus, reason: String? = nil, mail: UUID? = nil
    ) {
        self.id = id
        self.client = client
        self.status = status
        self.reason = reason
        self.mail = mail
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SignalStream> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<SignalStream>) throws(Rejection) -> Decision {
        let state = facts.thing.state
        guard let terms = state.aliveTerms, client == nil || client == terms.client else {
            throw .notFound
        }
        if let reason {
            do {
                try TextRule.label(reason, limit: 200)
            } catch {
                throw .invalid(FieldFault("reason", error))
            }
        }
        // What the transmitter noticed may be over: a receiver's own decision stays.
        if client == nil, state.status != .enabled { return Decision() }
        guard state.status != status || state.statusReason != reason else { return Decision() }
        return Decision(
            SignalStreamEvent.statusChanged(
                status, reason: reason, by: client == nil ? .transmitter : .receiver,
                mail: client == nil ? mail : nil), in: id)
    }
}
