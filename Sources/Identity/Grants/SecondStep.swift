internal import EventSourcing
internal import Values

/// What comes after a first factor that was good.
enum SecondStep {
    /// No second factor is needed.
    case notNeeded
    /// With what has to be put on record.
    case proved(TwoFactorEvent)
    case missing
    case wrong(TwoFactorEvent?)

    /// An account that has no second factor, or that is only being made, has none to show. A passkey
    /// never comes here: it verified its user itself.
    init(
        _ factor: Versioned<TwoFactor>?, _ typed: TypedFactor?, of account: UUID, at now: Timestamp
    ) {
        guard let factor, factor.state.enrolled != nil else {
            self = .notNeeded
            return
        }
        guard let typed else {
            self = .missing
            return
        }
        switch factor.state.examine(typed, of: account, at: now) {
        case .good(let event): self = .proved(event)
        case .wrong(let guess): self = .wrong(guess)
        }
    }
}

extension GrantDesk {
    /// The session of an account whose first factor was good, or the refusal of its second one.
    /// `decision` is what the first factor comes to, and `kept` what it comes to where the second one
    /// was not good.
    func open(
        after decision: Decision, orKeeping kept: Decision, account: Versioned<Account>,
        second factor: Versioned<TwoFactor>?, _ typed: TypedFactor?, scope: [String],
        factors: [AuthenticationFactor]
    ) -> SettledDecision<GrantOutcome> {
        var (decision, kept, factors) = (decision, kept, factors)
        switch SecondStep(factor, typed, of: account.stream, at: request.now) {
        case .notNeeded: break
        case .proved(let event):
            if let factor { decision.append(event, in: factor.stream) }
            for added in [AuthenticationFactor.timeCode, .multiple] where !factors.contains(added) {
                factors.append(added)
            }
        case .missing: return SettledDecision(kept, .failure(.secondFactorRequired))
        case .wrong(let guess):
            if let guess, let factor { kept.append(guess, in: factor.stream) }
            return SettledDecision(kept, .failure(.invalidSecondFactor))
        }
        if !account.state.isConfirmed {
            decision.append(AccountEvent.mailboxConfirmed, in: account.stream)
        }
        return open(
            after: decision, account: account.standing, scope: scope,
            factors: factors)
    }
}
