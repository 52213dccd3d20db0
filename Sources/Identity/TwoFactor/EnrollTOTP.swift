public import EventSourcing
public import Values

/// Gives somebody a secret for an authenticator app. Nothing is asked for before the app has proved
/// that it has it.
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
        try facts.requireOpen()
        // Who only found somebody signed in must not put his own app in the place of the other's.
        guard facts.factor.state.enrolled == nil else { throw .enrolledAlready }
        let offer = OfferedTOTP(
            id: totp, account: account, secret: secret,
            expiresAt: now.adding(seconds: Self.lifetime))
        return Decision(TwoFactorEvent.offered(offer), in: facts.stream)
    }
}
