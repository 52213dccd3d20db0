public import EventSourcing
internal import JSON
public import Values

/// An OAuth client: its metadata, its secret's digest, and whether it may be used.
public struct Client: StreamState {
    public private(set) var clientID = ""
    /// Nil before the registration.
    public private(set) var metadata: ClientMetadata?
    public private(set) var secret: SecretDigest?
    /// How often it got another secret: what the secret of an installation is derived from.
    public private(set) var secretRotations: UInt32 = 0
    public private(set) var isDisabled = false
    public private(set) var isDeleted = false
    /// Of an installation: the owner let it in, when it was made or later.
    public private(set) var isAdopted = false
    public private(set) var wasAtOnboarding = false
    /// Of an installation: what it is certified by, the first time since nothing took that back.
    public private(set) var certification: Certification?
    public private(set) var certifiedAt: Timestamp?
    /// The stream that says how, where a store vouched for it.
    public private(set) var attestation: UUID?

    public init() {}

    public mutating func apply(_ event: ClientEvent) {
        switch event {
        case .registered(let clientID, let metadata, let secret):
            self.clientID = clientID
            self.metadata = metadata
            self.secret = secret
        case .updated(let metadata):
            self.metadata = metadata
            if !metadata.authenticationMethod.usesSecret { secret = nil }
        case .secretRotated(let secret):
            self.secret = secret
            secretRotations &+= 1
        case .disabled: isDisabled = true
        case .enabled: isDisabled = false
        case .adopted(let atOnboarding):
            isAdopted = true
            wasAtOnboarding = atOnboarding
        case .certified(let certification, let at, let attestation, _):
            if self.certification == nil || certification.isFromStore {
                self.certification = certification
                certifiedAt = at
                self.attestation = attestation
            }
        case .certificationRevoked:
            // How it was certified stays part of what is told of it.
            certification = nil
            certifiedAt = nil
        case .deleted:
            isDeleted = true
            secret = nil
        }
    }

    static func claim(_ clientID: String) -> Claim { Claim("client_id", clientID) }
}

extension Versioned<Client> {
    /// The client's metadata while it is registered and not deleted.
    var aliveMetadata: ClientMetadata? { state.isDeleted ? nil : state.metadata }
}

/// What registering and updating look at: also the app that the metadata names.
public struct ClientAndApp: RealmFacts {
    public let realm: Versioned<Realm>
    public let client: Versioned<Client>
    public let app: Versioned<App>?

    static func read(
        _ client: UUID, app: UUID?, from streams: some StreamReader
    ) async throws(LogFailure) -> ClientAndApp {
        var named: Versioned<App>?
        if let app { named = try await streams.read(App.self, app) }
        return ClientAndApp(
            realm: try await streams.read(Realm.self, Realm.stream),
            client: try await streams.read(Client.self, client), app: named)
    }

    /// Those of the app that the client belongs to, else the realm's.
    var settings: Settings {
        let own = realm.state.settings
        return app.map { own.overlaid(by: $0.state.settings) } ?? own
    }

    /// Reads a request's metadata in the light of what is there. A statement is taken from the client
    /// itself, which shows it, and kept by all others.
    func metadata(
        _ members: JSONObject, of clientID: String, statement: String? = nil
    ) throws(FieldFault) -> ClientMetadata {
        var members = members
        if let named = members.removeValue(forKey: "client_id"), named != .string(clientID) {
            throw FieldFault("client_id", .mismatch)
        }
        let statement = statement ?? client.state.metadata?.softwareStatement
        if let said = members["software_statement"], !said.isNull, said.string != statement {
            throw FieldFault("software_statement", .reserved)
        }
        members["software_statement"] = statement.map { .string($0) }
        var metadata = try ClientMetadata(members)
        if client.state.metadata?.isVouchedFor == true { metadata.isVouchedFor = true }
        // Installations register themselves, and in no other way.
        guard !metadata.isInstallation, client.state.metadata?.isInstallation != true else {
            throw FieldFault("grant_types", .reserved)
        }
        if metadata.appID != nil {
            guard let app, app.isAlive else { throw FieldFault("app_id", .notFound) }
        }
        if let domain = metadata.passkeyDomain {
            guard PasskeyDomain.id(settings, chosenBy: domain) != nil else {
                throw FieldFault("webauthn_rp_id", .conflicts(with: "primary_domain"))
            }
        }
        return metadata
    }
}
