public import EventSourcing
public import Values

/// Has a code mailed to a realm's owner, by which an installation is trusted for which no store vouches.
public struct RequestCertification: TimedCommand {
    public var installation: UUID
    /// The name of the code, and the digest of its digits.
    public var code: UUID
    public var digest: SecretDigest
    public var now: Timestamp

    public init(installation: UUID, code: UUID, digest: SecretDigest, now: Timestamp) {
        self.installation = installation
        self.code = code
        self.digest = digest
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The realm has no owner to ask.
        case noOwner
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Client>
        let owner: Versioned<Owner>
        let account: Versioned<Account>?
        let code: Versioned<MailedCode>?

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm = try await InRealm<Client>.read(installation, from: streams)
        let owner = try await streams.read(Owner.self, Owner.stream)
        guard let account = owner.state.account else {
            return Facts(inRealm: inRealm, owner: owner, account: nil, code: nil)
        }
        return Facts(
            inRealm: inRealm, owner: owner,
            account: try await streams.read(Account.self, account),
            code: try await streams.read(
                MailedCode.self, MailedCode.stream(of: account, .certification)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.inRealm.thing.installation(at: now) != nil else { throw .notFound }
        guard facts.owner.state.isOnboarded, let account = facts.account, account.isWelcome,
            let codes = facts.code
        else { throw .noOwner }
        return Decision(
            MailedCodeEvent.issued(
                IssuedMailedCode(
                    id: code, purpose: .certification, account: account.stream, digest: digest,
                    issuedAt: now, installation: installation,
                    generation: account.state.proofGeneration)), in: codes.stream)
    }
}
