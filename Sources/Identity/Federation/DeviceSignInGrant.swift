public import EventSourcing
public import Values

/// A person who signs in by passphrase on a device that showed itself: nowhere else is a passphrase taken.
public struct DeviceSignInGrant: Grant {
    public var proof: PassphraseProof
    /// The session of the device's token.
    public var device: UUID
    public var keyID: String
    /// The mail that tells of a device on which the person never signed in.
    public var mail: UUID
    /// What the device calls itself, as it said when it showed itself.
    public var name: String?

    public init(
        proof: PassphraseProof, device: UUID, keyID: String, mail: UUID, name: String? = nil
    ) {
        self.proof = proof
        self.device = device
        self.keyID = keyID
        self.mail = mail
        self.name = name
    }

    public static let type = GrantType.password

    public struct Facts: Sendable {
        let proof: PassphraseProof.Facts
        let superiors: Superiors
        let device: Versioned<FederatedDevice>?
        let used: Versioned<DeviceUse>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let superiors = try await Superiors.read([device], from: streams)
        let proof = try await proof.gather(streams)
        guard let stream = superiors.last?.state.terms?.federation?.device else {
            return Facts(proof: proof, superiors: superiors, device: nil, used: nil)
        }
        var used: Versioned<DeviceUse>?
        if let account = self.proof.account(proof) {
            used = try await streams.read(
                DeviceUse.self, DeviceUse.stream(of: account, on: stream))
        }
        return Facts(
            proof: proof, superiors: superiors,
            device: try await streams.read(FederatedDevice.self, stream), used: used)
    }

    public func account(_ facts: Facts) -> UUID? { proof.account(facts.proof) }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let superior = facts.superiors.last, facts.superiors.areAlive(at: desk),
            let above = superior.state.terms?.federation, above.holder == .device,
            superior.state.terms?.client == desk.request.client, let device = facts.device
        else { throw .invalidSubjectToken }
        var desk = desk
        desk.federation = FederatedToken(
            holder: .person, keyID: keyID, device: device.stream,
            superiors: above.line(below: superior.stream))
        var settled = try proof.settle(facts.proof, at: desk)
        guard case .success(let granted) = settled.outcome, let account = granted.terms.account,
            let used = facts.used, var terms = device.state.terms
        else { return settled }
        terms.name = name ?? terms.name
        settled.decision.append(
            FederatedDeviceEvent.signedIn(
                account: account, session: granted.session,
                mail: used.exists ? nil : mail, terms),
            in: device.stream, of: account)
        if !used.exists {
            settled.decision.append(
                DeviceUseEvent.began(account: account, device: device.stream), in: used.stream,
                of: account)
        }
        return settled
    }
}
