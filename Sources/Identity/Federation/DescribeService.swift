public import EventSourcing
public import JSON
public import Values

/// Keeps what a service publishes of what it offers, so that it is found while its own host is down.
public struct DescribeService: Command {
    /// The service's client.
    public var service: UUID
    /// Where it was found: a service that publishes elsewhere meanwhile is not described by it.
    public var host: String
    public var description: JSON

    public init(service: UUID, host: String, description: JSON) {
        self.service = service
        self.host = host
        self.description = description
    }

    public enum Rejection: Error, Equatable, Sendable {
        case noSuchService
        case unreadable
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(service, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard var metadata = facts.thing.aliveMetadata, metadata.rules.isFederationService,
            metadata.serviceHost == host
        else { throw .noSuchService }
        guard description.canonical().count <= ServiceDescription.limit,
            ServiceDescription.isReadable(description)
        else { throw .unreadable }
        guard metadata.serviceDescription != description else { return Decision() }
        metadata.serviceDescription = description
        return Decision(ClientEvent.updated(metadata), in: service)
    }
}
