public import EventSourcing
public import Values

/// Puts new recovery codes in the place of those that are left.
public struct RenewRecoveryCodes: AnsweringCommand, TimedCommand {
    public var account: UUID
    public var typed: TypedFactor
    /// Keyed digests.
    public var recoveryCodes: [SecretDigest]
    public var now: Timestamp

    public init(
        account: UUID, typed: TypedFactor, recoveryCodes: [SecretDigest], now: Timestamp
    ) {
        self.account = account
        self.typed = typed
        self.recoveryCodes = recoveryCodes
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
                TwoFactorEvent.recoveryCodesRenewed(recoveryCodes), in: facts.stream)
        }
        return settled
    }
}
