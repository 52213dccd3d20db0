public import EventSourcing
public import Values

/// Lets a device ask for tokens that a person grants elsewhere.
public struct RequestDevice: AnsweringCommand {
    /// The stream that follows from the code that is typed.
    public var device: UUID
    /// As at the token endpoint; its `session` means nothing here.
    public var request: GrantRequest

    public init(device: UUID, _ request: GrantRequest) {
        self.device = device
        self.request = request
    }

    public typealias Rejection = GrantRefusal
    public typealias Outcome = DeviceTerms

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let client: Versioned<Client>
        let device: Versioned<Device>
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let client = try await streams.read(Client.self, request.client)
        let (realm, settings) = try await Realm.settings(
            of: client.state.metadata?.appID ?? request.app, from: streams)
        return Facts(
            realm: realm, settings: settings, client: client,
            device: try await streams.read(Device.self, device))
    }

    public func settle(_ facts: Facts) throws(GrantRefusal) -> SettledDecision<DeviceTerms> {
        guard let metadata = facts.client.aliveMetadata, !facts.client.state.isDisabled,
            facts.client.state.clientID == request.clientID,
            request.proof.isGood(for: metadata.authenticationMethod, facts.client.state.secret)
        else { throw .invalidClient }
        guard metadata.grantTypes.contains(.deviceCode) else { throw .unauthorizedClient }
        for resource in request.resources
        where !metadata.mayAsk(for: resource, facts.settings, from: request.issuer) {
            throw .invalidResource
        }
        let scope: [String]
        do throws(GrantRefusal) {
            scope = try Scope.granted(request.scope, to: metadata)
        } catch {
            throw error == .scopeNotAllowed ? .unknownScope : error
        }
        // Another request had the code once.
        guard !facts.device.exists else { throw .codeTaken }
        let lifetime = facts.settings[SettingCatalogue.deviceCodeLifetime]
        let terms = DeviceTerms(
            client: request.client, clientID: request.clientID,
            app: metadata.appID ?? request.app, scope: scope, resources: request.resources,
            expiresAt: request.now.adding(seconds: lifetime))
        var decision = Decision(DeviceEvent.requested(terms), in: device)
        if case .assertion(let assertion) = request.proof {
            decision.take(assertion.claim(by: request.clientID), for: request.client)
        }
        return SettledDecision(decision, terms)
    }

    public func rejection(takenClaim kind: String) -> GrantRefusal { .usedAssertion }
}
