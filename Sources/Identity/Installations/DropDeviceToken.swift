public import EventSourcing
internal import JSON
public import Values

/// Takes away what a device was to be reached by, because its provider says that there is no such device.
public struct DropDeviceToken: Command {
    public enum Consequence: Sendable {
        /// The app stays, and is not told of anything until it says where.
        case tokenGoes
        /// The app was removed from the device: its tokens are over.
        case installationGoes
    }

    public var installation: UUID
    /// As the provider was asked for it: the app may have said another one since.
    public var token: String
    public var consequence: Consequence

    public init(installation: UUID, token: String, consequence: Consequence) {
        self.installation = installation
        self.token = token
        self.consequence = consequence
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case tokenChanged
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Client> {
        try await streams.read(Client.self, installation)
    }

    public func decide(_ client: Versioned<Client>) throws(Rejection) -> Decision {
        guard var metadata = client.aliveMetadata, metadata.isInstallation else {
            throw .notFound
        }
        guard metadata.notificationToken == token else { throw .tokenChanged }
        switch consequence {
        case .tokenGoes:
            metadata.notificationToken = nil
            return Decision(ClientEvent.updated(metadata), in: installation)
        case .installationGoes:
            var decision = Decision(ClientEvent.deleted, in: installation)
            decision.release(Client.claim(client.state.clientID), by: installation)
            decision.release(
                Installation.nameClaim(metadata.clientName ?? ""), by: installation)
            return decision
        }
    }
}
