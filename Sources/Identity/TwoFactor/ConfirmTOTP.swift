public import EventSourcing
public import Values

/// Takes the first code of an authenticator app: from then on every sign-in by code or link asks for
/// one.
public struct ConfirmTOTP: TimedCommand {
    public var account: UUID
    public var typed: TypedFactor
    /// Keyed digests of the recovery codes that are shown with the answer.
    public var recoveryCodes: [SecretDigest]
    public var mail: UUID
    public var now: Timestamp

    public init(
        account: UUID, typed: TypedFactor, recoveryCodes: [SecretDigest], mail: UUID,
        now: Timestamp
    ) {
        self.account = account
        self.typed = typed
        self.recoveryCodes = recoveryCodes
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = TwoFactorRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnTwoFactor {
        try await .read(account, from: streams)
    }

    /// A wrong code is no guess here: the person who types it has the secret.
    public func decide(_ facts: OwnTwoFactor) throws(Rejection) -> Decision {
        try facts.requireWelcome()
        guard facts.factor.state.enrolled == nil else { throw .enrolledAlready }
        guard let offer = facts.factor.state.offer, now < offer.expiresAt,
            let secret = offer.secret
        else { throw .notOffered }
        guard let step = typed.step(secret) else { throw .wrongCode }
        let enrolment = ConfirmedTOTP(
            account: account, step: step, at: now, recoveryCodes: recoveryCodes, mail: mail)
        return Decision(TwoFactorEvent.confirmed(enrolment), in: facts.stream)
    }
}
