public import EventSourcing
public import JSON
public import Values

/// A person whose app shows their passphrase and a key of its own in an assertion that this key, or that of the app's
/// version, has signed. The key is kept with the session: what it signs afterwards shows the person to services.
public struct AppSignInGrant: Grant {
    public var proof: PassphraseProof
    /// The stream of the device, which follows from its name and that of its key.
    public var device: UUID
    /// The session that is opened, named after the assertion: it is good once.
    public var session: UUID
    public var keyID: String
    /// The public key, as a JWK.
    public var key: JSON
    /// Whether this key signed the assertion. Where the version's key did, the app has not shown that it holds this one.
    public var provesKey: Bool
    /// The mail that tells of a device on which the person never signed in.
    public var mail: UUID
    public var name: String?

    public init(
        proof: PassphraseProof, device: UUID, session: UUID, keyID: String, key: JSON,
        provesKey: Bool, mail: UUID, name: String?
    ) {
        self.proof = proof
        self.device = device
        self.session = session
        self.keyID = keyID
        self.key = key
        self.provesKey = provesKey
        self.mail = mail
        self.name = name
    }

    public static let type = GrantType.jwtBearer

    public var sessionName: UUID? { session }

    public struct Facts: Sendable {
        let proof: PassphraseProof.Facts
        let device: Versioned<FederatedDevice>
        let before: Versioned<Session>?
        let used: Versioned<DeviceUse>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let proof = try await proof.gather(streams)
        let device = try await streams.read(FederatedDevice.self, device)
        var before: Versioned<Session>?
        if let session = device.state.session {
            before = try await streams.read(Session.self, session)
        }
        var used: Versioned<DeviceUse>?
        if let account = self.proof.account(proof) {
            used = try await streams.read(
                DeviceUse.self, DeviceUse.stream(of: account, on: self.device))
        }
        return Facts(proof: proof, device: device, before: before, used: used)
    }

    public func account(_ facts: Facts) -> UUID? { proof.account(facts.proof) }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        throw .invalidAssertion
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard desk.metadata.rules.isFederationApp else { throw .unauthorizedClient }
        let before = facts.before.flatMap { $0.state.end == nil ? $0 : nil }
        // Who has another key is another device, under any name.
        if let known = before?.state.terms?.federation?.confirmation, known != key {
            throw .invalidAssertion
        }
        var proof = proof
        proof.scope = try desk.grantedScope()
        var desk = desk
        desk.federation = FederatedToken(
            holder: .person, keyID: keyID, device: facts.device.stream, confirmation: key)
        var settled = try proof.settle(facts.proof, at: desk)
        guard case .success(let granted) = settled.outcome, let account = granted.terms.account,
            let used = facts.used
        else { return settled }
        // An app that proves the key may take the device over; one that merely names the key ends no other person's
        // session there.
        if let before, !provesKey, before.state.terms?.account != account {
            throw .invalidAssertion
        }
        if let before {
            settled.decision.append(SessionEvent.ended(.replaced), in: before.stream)
        }
        let terms = FederatedDeviceTerms(
            client: desk.request.client, clientID: desk.request.clientID, name: name)
        settled.decision.append(
            FederatedDeviceEvent.asserted(session: granted.session, terms), in: facts.device.stream)
        settled.decision.append(
            FederatedDeviceEvent.signedIn(
                account: account, session: granted.session, mail: used.exists ? nil : mail, terms),
            in: facts.device.stream, of: account)
        if !used.exists {
            settled.decision.append(
                DeviceUseEvent.began(account: account, device: facts.device.stream),
                in: used.stream, of: account)
        }
        return settled
    }
}
