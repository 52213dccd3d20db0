public import EventSourcing
public import Values

/// Believes that an installation is the genuine app, on the word of the owner who typed the code that was
/// mailed to them.
public struct CertifyByMailedCode: AnsweringCommand, TimedCommand {
    public var installation: UUID
    public var typed: TypedMailedCode
    public var now: Timestamp
    /// The name of the mail that tells of it.
    public var mail: UUID?

    public init(installation: UUID, typed: TypedMailedCode, now: Timestamp) {
        self.installation = installation
        self.typed = typed
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// There is no such code, or no more.
        case noCode
    }

    public typealias Outcome = CertifyInstallation.Outcome

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

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard facts.inRealm.thing.installation(at: now) != nil else { throw .notFound }
        guard let account = facts.account, account.isWelcome, let codes = facts.code,
            let live = codes.state.code(typed.id, of: account.state, at: now),
            live.installation == installation
        else { throw .noCode }
        guard typed.shown.matches(live.digest) else {
            return SettledDecision(
                Decision(MailedCodeEvent.refused(live.id, at: now), in: codes.stream), .refused)
        }
        var decision = Decision(MailedCodeEvent.redeemed(live.id), in: codes.stream)
        decision.append(
            ClientEvent.certified(
                .mailedCode, at: now, attestation: nil,
                notice: facts.inRealm.thing.certificationNotice(facts.owner, mail: mail)),
            in: installation)
        return SettledDecision(decision, .certified)
    }
}
