public import EventSourcing
public import JSON
public import Values

/// Lets an application ask for tokens, within what its metadata allows.
public struct RegisterClient: Command {
    /// The client's stream.
    public var id: UUID
    /// The name that the client goes by in OAuth.
    public var clientID: String
    /// Under its RFC 7591 names.
    public var metadata: JSONObject
    /// Exactly where the client authenticates by a secret.
    public var secret: SecretDigest?
    /// Of a client that speaks for itself: the statement that it showed.
    var statement: String?

    public init(
        id: UUID, clientID: String, metadata: JSONObject, secret: SecretDigest? = nil
    ) {
        self.id = id
        self.clientID = clientID
        self.metadata = metadata
        self.secret = secret
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case clientIDTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> ClientAndApp {
        try await .read(id, app: ClientMetadata.appID(askedFor: metadata), from: streams)
    }

    public func decide(_ facts: ClientAndApp) throws(Rejection) -> Decision {
        guard !facts.client.exists else { throw .idTaken }
        do {
            try TextRule.clientID(clientID)
        } catch {
            throw .invalid(FieldFault("client_id", error))
        }
        guard SubjectForm.isFree(clientID, for: id) else {
            throw .invalid(FieldFault("client_id", .formOfSubject))
        }
        let checked: ClientMetadata
        do {
            checked = try facts.metadata(metadata, of: clientID, statement: statement)
        } catch {
            throw .invalid(error)
        }
        let usesSecret = checked.authenticationMethod.usesSecret
        guard usesSecret == (secret != nil) else {
            let method = "token_endpoint_auth_method"
            throw .invalid(
                FieldFault(
                    "client_secret", usesSecret ? .needed(by: method) : .conflicts(with: method)))
        }
        var decision = Decision(
            ClientEvent.registered(clientID: clientID, metadata: checked, secret: secret), in: id)
        decision.take(Client.claim(clientID), for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .clientIDTaken }
}
