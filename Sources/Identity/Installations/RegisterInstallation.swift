public import EventSourcing
public import JSON
public import Values

/// Lets an app on a device become known to a realm of the flagship profile. The app has no permission yet.
public struct RegisterInstallation: Command {
    /// The client's stream: it says when it was made.
    public var id: UUID
    /// As the app says it.
    public var metadata: JSONObject
    public var secret: SecretDigest

    public init(id: UUID, metadata: JSONObject, secret: SecretDigest) {
        self.id = id
        self.metadata = metadata
        self.secret = secret
    }

    /// The name that it goes by in OAuth.
    public static func clientID(of id: UUID) -> String { Hex.encode(id.bytes) }

    public enum Rejection: Error, Equatable, Sendable {
        /// The realm is not of the profile.
        case notOffered
        case idTaken
        /// Another installation has the name.
        case nameTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        InRealm(
            realm: try await streams.read(Realm.self, Realm.stream),
            thing: try await streams.readNew(Client.self, id))
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard facts.realm.state.settings.rules.hasOwner else {
            throw .notOffered
        }
        guard !facts.thing.exists else { throw .idTaken }
        let checked: ClientMetadata
        do {
            checked = try InstallationMetadata.read(metadata)
        } catch {
            throw .invalid(error)
        }
        let clientID = Self.clientID(of: id)
        var decision = Decision(
            ClientEvent.registered(clientID: clientID, metadata: checked, secret: secret), in: id)
        decision.take(Client.claim(clientID), for: id)
        decision.take(Installation.nameClaim(checked.clientName ?? ""), for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection {
        kind == Installation.nameClaim("").kind ? .nameTaken : .idTaken
    }
}

/// What an installation may say of itself.
enum InstallationMetadata {
    static let names: Set<String> = [
        "redirect_uris", "client_name", "software_id", "software_version", "client_kind",
        "client_os", "client_uri", "logo_uri", "policy_uri", "notification_platform",
        "notification_device_token", "notifications",
    ]

    static func read(_ members: JSONObject) throws(FieldFault) -> ClientMetadata {
        // Apps send what they do not know as empty.
        var said = members.filter { names.contains($0.key) && $0.value != .string("") }
        for name in ["redirect_uris", "client_name", "software_id"]
        where said[name] == nil || said[name] == .null || said[name] == .array([]) {
            throw FieldFault(name, .missing)
        }
        // Some write it in capitals.
        if let platform = said["notification_platform"]?.string {
            said["notification_platform"] = .string(platform.lowercased())
        }
        said["grant_types"] = .texts(ClientMetadata.installationGrants.map(\.rawValue))
        said["response_types"] = .array([])
        said["token_endpoint_auth_method"] = .string(AuthenticationMethod.secretPost.rawValue)
        said["application_type"] = .string(ApplicationType.native.rawValue)
        said["scope"] = .string(Installation.scope)
        return try ClientMetadata(said)
    }
}
