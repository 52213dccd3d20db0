public import EventSourcing
public import JSON
public import Values

/// Replaces all of a client's metadata; what is left out returns to its default.
public struct UpdateClient: Command {
    public var id: UUID
    /// Under its RFC 7591 names.
    public var metadata: JSONObject
    /// A new secret. Needed where the client had none and is now to authenticate by one.
    public var secret: SecretDigest?
    /// Of a client that speaks for itself: the statement that it showed.
    var statement: String?

    public init(id: UUID, metadata: JSONObject, secret: SecretDigest? = nil) {
        self.id = id
        self.metadata = metadata
        self.secret = secret
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> ClientAndApp {
        try await .read(id, app: ClientMetadata.appID(askedFor: metadata), from: streams)
    }

    public func decide(_ facts: ClientAndApp) throws(Rejection) -> Decision {
        guard let current = facts.client.aliveMetadata else { throw .notFound }
        let client = facts.client.state
        let checked: ClientMetadata
        do {
            checked = try facts.metadata(
                metadata, of: client.clientID, statement: statement)
        } catch {
            throw .invalid(error)
        }
        let method = "token_endpoint_auth_method"
        if checked.authenticationMethod.usesSecret {
            guard secret != nil || client.secret != nil else {
                throw .invalid(FieldFault("client_secret", .needed(by: method)))
            }
        } else if secret != nil {
            throw .invalid(FieldFault("client_secret", .conflicts(with: method)))
        }
        var decision = Decision()
        if checked != current { decision.append(ClientEvent.updated(checked), in: id) }
        if let secret, secret != client.secret {
            decision.append(ClientEvent.secretRotated(secret), in: id)
        }
        return decision
    }
}
