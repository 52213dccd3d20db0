public import EventSourcing
public import Values

/// Changes a passphrase for who knows the old one, by a token of the person's own device. A wrong old one counts as
/// a guess.
public struct ChangePassphrase: AnsweringCommand, TimedCommand {
    public var account: UUID
    /// The session of the token that asks.
    public var session: UUID
    /// How the old one compared with what the log keeps.
    public var comparison: PassphraseProof.Comparison
    /// What takes the new one's place in the log.
    public var hash: String
    public var mail: UUID
    public var now: Timestamp

    public init(
        account: UUID, session: UUID, comparison: PassphraseProof.Comparison, hash: String,
        mail: UUID, now: Timestamp
    ) {
        self.account = account
        self.session = session
        self.comparison = comparison
        self.hash = hash
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = PassphraseRejection
    /// Whether the passphrase was changed.
    public typealias Outcome = Bool

    public struct Facts: RealmFacts {
        let own: OwnPassphrase
        let line: Superiors

        public var realm: Versioned<Realm> { own.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let above =
            try await streams.read(Session.self, session).state.terms?.federation?.superiors ?? []
        return Facts(
            own: try await .read(account, app: nil, from: streams),
            line: try await Superiors.read(above + [session], from: streams))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Bool> {
        try facts.own.requireWelcome()
        guard facts.own.settings.offers(.passphrase) else { throw .notOffered }
        let passphrase = facts.own.passphrase
        guard let terms = facts.line.last?.state.terms, terms.account == account,
            facts.own.account.state.keeps(terms), facts.line.areAlive(at: now)
        else { throw .accountBlocked }
        guard let kept = passphrase.state.hash else { throw .notSet }
        guard !passphrase.state.isResting(at: now) else { return SettledDecision(false) }
        switch comparison {
        case .right(let compared) where compared == kept:
            var decision = Decision()
            decision.changePassphrase(
                .set(hash: hash, account: account, mail: mail, at: now), in: passphrase.stream,
                of: account)
            return SettledDecision(decision, true)
        case .wrong(let compared) where compared == kept:
            let told = passphrase.state.isAboutToRest ? mail : nil
            return SettledDecision(
                Decision(
                    PassphraseEvent.refused(
                        at: now, account: told.map { _ in account }, mail: told),
                    in: passphrase.stream, of: account),
                false)
        // It was changed just now.
        case .right, .wrong, .nothing: return SettledDecision(false)
        }
    }
}
