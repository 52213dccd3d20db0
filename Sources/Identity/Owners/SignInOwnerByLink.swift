public import EventSourcing
public import Values

/// Signs a realm's owner in by a link that was mailed to them. If they want a second factor, it is
/// their passphrase.
///
/// The link is used up by a successful sign-in, and not before: apps come back with it and the
/// passphrase.
public struct SignInOwnerByLink: AnsweringCommand {
    public var link: UUID
    /// What came of comparing the passphrase, if one was typed.
    public var comparison: PassphraseProof.Comparison?
    public var request: OwnerRequest

    public init(
        link: UUID, comparison: PassphraseProof.Comparison? = nil, request: OwnerRequest
    ) {
        self.link = link
        self.comparison = comparison
        self.request = request
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = OwnerOutcome

    public struct Facts: RealmFacts {
        let desk: OwnerDesk
        let shown: OwnerLinkFacts?

        public var realm: Versioned<Realm> { desk.realm }
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let desk = try await OwnerDesk.read(request, from: streams)
        guard let account = desk.account?.stream else { return Facts(desk: desk, shown: nil) }
        return Facts(desk: desk, shown: try await .read(account, from: streams))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let desk = facts.desk
        try desk.requireOffered()
        guard desk.realm.state.settings[SettingCatalogue.ownerLinks] else { throw .notOffered }
        guard let account = desk.account, account.isWelcome, let shown = facts.shown,
            desk.owner.state.isOnboarded
        else { return desk.refused(.invalidMagicCode) }
        switch shown.examine(
            link, comparison, needsPassphrase: desk.owner.state.needsMailedCode, of: account,
            at: request.now)
        {
        case .over: return desk.refused(.invalidMagicCode)
        case .passphraseMissing: return SettledDecision(.refused(.passphraseNeeded))
        case .passphraseWrong(let guess): return desk.refused(.passphraseNeeded, after: guess)
        case .good(let decision, let factors):
            do throws(OwnerRefusal) {
                return try desk.open(after: decision, account: account, factors: factors)
            } catch {
                return desk.refused(error)
            }
        }
    }
}

/// A link that was mailed to an owner, and what may have to come with it.
public struct OwnerLinkFacts: Sendable {
    let link: Versioned<MailedLink>
    let passphrase: Versioned<Passphrase>

    enum Verdict {
        case over
        case passphraseMissing
        /// With what has to be put on record.
        case passphraseWrong(Decision)
        case good(Decision, [AuthenticationFactor])
    }

    static func read(
        _ account: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnerLinkFacts {
        OwnerLinkFacts(
            link: try await streams.read(
                MailedLink.self, MailedLink.stream(of: account, .signIn)),
            passphrase: try await streams.read(Passphrase.self, Passphrase.stream(of: account)))
    }

    func examine(
        _ id: UUID, _ comparison: PassphraseProof.Comparison?, needsPassphrase: Bool,
        of account: Versioned<Account>, at now: Timestamp
    ) -> Verdict {
        guard link.state.link(id, of: account.state, at: now) != nil else { return .over }
        let used = Decision(MailedLinkEvent.used(id), in: link.stream)
        guard needsPassphrase else { return .good(used, [.mailedLink]) }
        guard let comparison else { return .passphraseMissing }
        switch passphrase.examine(comparison, of: account.stream, at: now) {
        case .wrong(let guess): return .passphraseWrong(guess)
        case .right(var decision):
            decision.append(used)
            return .good(decision, [.mailedLink, .passphrase, .multiple])
        }
    }
}

/// What came of a passphrase that was typed, with what has to be put on record.
enum PassphraseVerdict {
    case right(Decision)
    case wrong(Decision)
}

extension Versioned<Passphrase> {
    /// The adapter has compared it: here it is seen to that this is still what the log keeps.
    func examine(
        _ comparison: PassphraseProof.Comparison, of account: UUID, at now: Timestamp
    ) -> PassphraseVerdict {
        // While guesses rest, the answer does not tell whether the passphrase is right.
        guard let kept = state.hash, !state.isResting(at: now) else { return .wrong(Decision()) }
        switch comparison {
        case .right(let hash) where hash == kept:
            guard state.wasGuessed else { return .right(Decision()) }
            return .right(Decision(PassphraseEvent.used, in: stream, of: account))
        case .wrong(let hash) where hash == kept:
            return .wrong(Decision(PassphraseEvent.refused(at: now), in: stream, of: account))
        // It was changed just now.
        case .right, .wrong, .nothing: return .wrong(Decision())
        }
    }
}
