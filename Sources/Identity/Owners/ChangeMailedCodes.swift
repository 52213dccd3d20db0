public import EventSourcing
public import Values

/// Says whether an owner's passphrase needs a mailed code beside it. To switch codes on, the owner shows one first.
public struct ChangeMailedCodes: AnsweringCommand, TimedCommand {
    /// The typed code; nil: mailed codes are no longer needed.
    public var typed: TypedMailedCode?
    public var now: Timestamp

    public init(typed: TypedMailedCode?, now: Timestamp) {
        self.typed = typed
        self.now = now
    }

    public typealias Rejection = RequestMailedCode.Rejection

    public enum Outcome: Equatable, Sendable {
        case changed
        case wrongCode
    }

    public typealias Facts = OwnersCode

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersCode {
        try await .read(from: streams)
    }

    public func settle(_ facts: OwnersCode) throws(Rejection) -> SettledDecision<Outcome> {
        guard let code = facts.code, let account = facts.account, account.isWelcome,
            facts.owner.thing.state.isOnboarded
        else { throw .noOwner }
        let isNeeded = facts.owner.thing.state.needsMailedCode
        guard let typed else {
            guard isNeeded else { return SettledDecision(.changed) }
            return SettledDecision(
                Decision(OwnerEvent.mailedCodesChanged(isNeeded: false), in: Owner.stream),
                .changed)
        }
        guard let live = code.state.code(typed.id, of: account.state, at: now) else {
            return SettledDecision(.wrongCode)
        }
        guard typed.shown.matches(live.digest) else {
            return SettledDecision(
                Decision(MailedCodeEvent.refused(live.id, at: now), in: code.stream), .wrongCode)
        }
        var decision = Decision(MailedCodeEvent.redeemed(live.id), in: code.stream)
        if !isNeeded {
            decision.append(OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
        }
        return SettledDecision(decision, .changed)
    }
}

/// A realm's owner and the code that is mailed to them beside their passphrase.
public struct OwnersCode: RealmFacts {
    let owner: InRealm<Owner>
    /// Nil where there is no owner.
    let account: Versioned<Account>?
    let code: Versioned<MailedCode>?

    public var realm: Versioned<Realm> { owner.realm }

    static func read(from streams: some StreamReader) async throws(LogFailure) -> OwnersCode {
        let owner: InRealm<Owner> = try await .read(Owner.stream, from: streams)
        guard let account = owner.thing.state.account else {
            return OwnersCode(owner: owner, account: nil, code: nil)
        }
        return OwnersCode(
            owner: owner, account: try await streams.read(Account.self, account),
            code: try await streams.read(
                MailedCode.self, MailedCode.stream(of: account, .secondFactor)))
    }
}
