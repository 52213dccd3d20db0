public import EventSourcing
public import Values

/// Removes an account's second factor, by a code of it or a recovery code.
public struct RemoveTOTP: AnsweringCommand, TimedCommand {
    public var account: UUID
    public var typed: TypedFactor
    public var mail: UUID
    public var now: Timestamp

    public init(account: UUID, typed: TypedFactor, mail: UUID, now: Timestamp) {
        self.account = account
        self.typed = typed
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = TwoFactorRejection
    public typealias Outcome = TwoFactorOutcome

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnTwoFactor {
        try await .read(account, from: streams)
    }

    public func settle(_ facts: OwnTwoFactor) throws(Rejection) -> SettledDecision<Outcome> {
        var settled = try facts.proving(typed, at: now)
        if case .success = settled.outcome {
            settled.decision.append(
                TwoFactorEvent.removed(account: account, mail: mail), in: facts.stream)
        }
        return settled
    }
}

extension OwnTwoFactor {
    /// Requires what only the owner of the second factor has, and a thief of a token has not: the
    /// code is used up, and a wrong one is a guess like any other.
    func proving(
        _ typed: TypedFactor, at now: Timestamp
    ) throws(TwoFactorRejection) -> SettledDecision<TwoFactorOutcome> {
        try requireWelcome()
        guard factor.state.enrolled != nil else { throw .notEnrolled }
        switch factor.state.examine(typed, of: account.stream, at: now) {
        case .good(let event): return SettledDecision(Decision(event, in: stream), .success(()))
        case .wrong(let guess?):
            return SettledDecision(Decision(guess, in: stream), .failure(.wrongCode))
        case .wrong(nil): throw .wrongCode
        }
    }
}
