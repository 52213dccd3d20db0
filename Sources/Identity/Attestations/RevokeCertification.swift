public import EventSourcing
public import Values

/// Takes an installation's certification back: tokens for everything do not work until it is certified anew.
public struct RevokeCertification: TimedCommand {
    public var installation: UUID
    public var now: Timestamp

    public init(installation: UUID, now: Timestamp) {
        self.installation = installation
        self.now = now
    }

    public typealias Rejection = NotFound<Client>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(installation, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard facts.thing.aliveMetadata?.isInstallation == true else { throw .notFound }
        guard facts.thing.state.certification != nil else { return Decision() }
        return Decision(ClientEvent.certificationRevoked(.revoked, at: now), in: installation)
    }
}
