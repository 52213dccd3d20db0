public import EventSourcing
public import JSON
public import Values

/// Changes some of a client's metadata and leaves the rest as it is.
public struct ChangeClient: Command {
    public var id: UUID
    /// Under their RFC 7591 names; null takes a member away.
    public var changes: JSONObject
    /// A new secret, for a client that has none and comes to need one.
    public var secret: SecretDigest

    public init(id: UUID, changes: JSONObject, secret: SecretDigest) {
        self.id = id
        self.changes = changes
        self.secret = secret
    }

    public typealias Rejection = UpdateClient.Rejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> ClientAndApp {
        let client = try await streams.read(Client.self, id)
        let members = merged(with: client.state.metadata)
        return try await .read(id, app: ClientMetadata.appID(askedFor: members), from: streams)
    }

    public func decide(_ facts: ClientAndApp) throws(Rejection) -> Decision {
        let client = facts.client.state
        var command = UpdateClient(id: id, metadata: merged(with: client.metadata))
        let method = ClientMetadata.authenticationMethod(askedFor: command.metadata)
        if method?.usesSecret == true, client.secret == nil { command.secret = secret }
        return try command.decide(facts)
    }

    /// What may be answered with follows from the grants, unless it is said as well.
    private func merged(with current: ClientMetadata?) -> JSONObject {
        var members = current?.members ?? [:]
        if changes["grant_types"] != nil { members["response_types"] = nil }
        return members.merging(changes) { $1 }
    }
}
