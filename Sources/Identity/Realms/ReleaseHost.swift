public import EventSourcing
public import Values

/// Frees a host name, so that it leads nowhere and may be given to another realm.
///
/// Runs in the system realm.
public struct ReleaseHost: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<Host>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Host> {
        try await streams.read(Host.self, id)
    }

    public func decide(_ host: Versioned<Host>) throws(Rejection) -> Decision {
        guard host.exists, host.state.realm != nil else { throw .notFound }
        var decision = Decision(HostEvent.released, in: id)
        decision.release(Host.claim(host.state.name), by: id)
        return decision
    }
}
