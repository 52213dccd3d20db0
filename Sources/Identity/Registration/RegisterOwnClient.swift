public import EventSourcing
public import JSON
public import Values

/// Lets a client register itself, as far as the realm is open to it (RFC 7591).
public struct RegisterOwnClient: TimedCommand {
    /// The client's stream.
    public var id: UUID
    public var clientID: String
    /// As the client sent it.
    public var metadata: JSONObject
    public var secret: SecretDigest?
    /// The app at whose host it asked, to which it will belong.
    public var app: UUID?
    /// The token that it showed, which is authentic.
    public var token: UUID?
    /// What its maker says of it, where one does: it goes before the client's own words, and gives
    /// it nothing more than they could.
    public var statement: SoftwareStatement?
    /// What the document of its sector lists; nil where there is none to be had.
    public var sectorPlaces: [String]?
    public var now: Timestamp

    public init(
        id: UUID, clientID: String, metadata: JSONObject, secret: SecretDigest? = nil,
        app: UUID? = nil, token: UUID? = nil, statement: SoftwareStatement? = nil,
        sectorPlaces: [String]? = nil, now: Timestamp
    ) {
        self.sectorPlaces = sectorPlaces
        self.id = id
        self.clientID = clientID
        self.metadata = metadata
        self.secret = secret
        self.app = app
        self.token = token
        self.statement = statement
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case closed
        case tokenNeeded
        case statementNeeded
        /// The token is used up, over, taken back, or was never made.
        case invalidToken
        /// A rejection of the registration, as for clients of an administrator.
        case refused(RegisterClient.Rejection)
    }

    public struct Facts: RealmFacts {
        let settings: Settings
        let place: ClientAndApp
        let token: Versioned<RegistrationToken>?

        public var realm: Versioned<Realm> { place.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let place = try await ClientAndApp.read(id, app: app, from: streams)
        let (_, settings) = try await Realm.settings(of: app, from: streams)
        guard let token else { return Facts(settings: settings, place: place, token: nil) }
        return Facts(
            settings: settings, place: place,
            token: try await streams.read(RegistrationToken.self, token))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try admit(facts.settings[SettingCatalogue.clientRegistration])
        var allowance = OwnMetadata.Allowance(facts.settings)
        if let token = facts.token {
            guard let terms = token.state.goodTerms(at: now) else { throw .invalidToken }
            allowance.add(terms.scope)
            allowance.grants.insert(.clientCredentials)
        }
        let asked = SoftwareStatement.lay(statement, over: metadata)
        var members: JSONObject
        do {
            members = try OwnMetadata.read(asked, allowance)
            try SectorRule.check(members, sectorPlaces)
        } catch {
            throw .refused(.invalid(error))
        }
        members["app_id"] = app.map { .uuid($0) }
        // Resource servers that never heard of it take its tokens nowhere.
        members["resources_listed_only"] = true
        var command = RegisterClient(
            id: id, clientID: clientID, metadata: members, secret: secret)
        command.statement = statement?.text
        let registered: Decision
        do {
            registered = try command.decide(facts.place)
        } catch {
            throw .refused(error)
        }
        guard let token else { return registered }
        // The token comes first: those who come by the same one at once wait for it in a line.
        var decision = Decision(RegistrationTokenEvent.used(client: id, at: now), in: token)
        decision.append(registered)
        return decision
    }

    private func admit(_ posture: ClientRegistration) throws(Rejection) {
        switch posture {
        case .closed: throw .closed
        case .initialAccessToken:
            if token == nil { throw .tokenNeeded }
        case .softwareStatement:
            if token == nil, statement == nil { throw .statementNeeded }
        case .open: break
        }
    }

    public func rejection(takenClaim kind: String) -> Rejection { .refused(.clientIDTaken) }
}
