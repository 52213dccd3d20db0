public import EventSourcing
public import Values

/// Gives a person a secret for an authenticator app. No code is asked for at sign-in before the app
/// has proved that it has the secret.
public struct EnrollTOTP: TimedCommand {
    public var account: UUID
    public var totp: UUID
    /// In base64url.
    public var secret: String
    public var now: Timestamp

    public init(account: UUID, totp: UUID, secret: String, now: Timestamp) {
        self.account = account
        self.totp = totp
        self.secret = secret
        self.now = now
    }

    /// Long enough to fetch a telephone.
    public static let lifetime: Int64 = 600

    public typealias Rejection = TwoFactorRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnTwoFactor {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: OwnTwoFactor) throws(Rejection) -> Decision {
        try facts.requireWelcome()
        // A stranger who finds an open session must not replace its person's authenticator app.
        guard facts.factor.state.enrolled == nil else { throw .enrolledAlready }
        let offer = OfferedTOTP(
            id: totp, account: account, secret: secret,
            expiresAt: now.adding(seconds: Self.lifetime))
        return Decision(TwoFactorEvent.offered(offer), in: facts.stream)
    }
}
