public import EventSourcing
public import Values

/// The second factor of an account: an authenticator app, and the codes that stand in for it.
public struct TwoFactor: StreamState {
    /// Shown to its owner, who has not proved yet that the app has it.
    public private(set) var offer: OfferedTOTP?
    /// What its codes are made with. Nil inside: it was erased, and no code is right any more.
    public private(set) var enrolled: OfferedTOTP?
    public private(set) var enrolledAt: Timestamp?
    /// The unused recovery codes.
    public private(set) var recoveryCodes: Set<SecretDigest> = []
    /// The last period whose code was used: none up to it is good again.
    private var lastStep: Int64 = -1
    private var wrongGuesses = 0
    private var lastGuess: Timestamp?

    public init() {}

    /// Follows from the account, so that it needs no look-up.
    public static func stream(of account: UUID) -> UUID {
        UUID(high: account.high, low: account.low ^ 0x0000_746F_7470_0000)
    }

    public mutating func apply(_ event: TwoFactorEvent) {
        switch event {
        case .offered(let offer): self.offer = offer
        case .confirmed(let enrolment):
            enrolled = offer
            enrolledAt = enrolment.at
            lastStep = enrolment.step
            recoveryCodes = Set(enrolment.recoveryCodes)
            offer = nil
            wrongGuesses = 0
        case .used(let step):
            lastStep = step
            wrongGuesses = 0
        case .refused(let at, _, _):
            wrongGuesses += 1
            lastGuess = at
        case .recoveryCodeUsed(let digest):
            recoveryCodes.remove(digest)
            wrongGuesses = 0
        case .recoveryCodesRenewed(let digests): recoveryCodes = Set(digests)
        case .removed:
            offer = nil
            enrolled = nil
            enrolledAt = nil
            recoveryCodes = []
        }
    }
}

extension TwoFactor {
    /// How a typed code ends.
    enum Proof: Equatable {
        /// With what has to be put on record for it to be good once.
        case good(TwoFactorEvent)
        /// What is wrong is a guess, unless it was good a moment ago or none is taken now.
        case wrong(TwoFactorEvent?)
    }

    /// Of three codes one in a million is guessed; who keeps guessing waits twice as long each time.
    private static let guessesBeforeRest = 5
    private static let longestRest: Int64 = 86_400

    func isResting(at now: Timestamp) -> Bool {
        guard wrongGuesses >= Self.guessesBeforeRest, let lastGuess else { return false }
        let doublings = min(wrongGuesses - Self.guessesBeforeRest, 16)
        return now < lastGuess.adding(seconds: min(60 << Int64(doublings), Self.longestRest))
    }

    /// A recovery code is too long to be guessed: it is accepted also while no other code is, so
    /// that a stranger cannot lock an account's owner out by guessing.
    func examine(_ typed: TypedFactor, of account: UUID, at now: Timestamp) -> Proof {
        if let digest = typed.recoveryDigest(account), recoveryCodes.contains(digest) {
            return .good(.recoveryCodeUsed(digest))
        }
        if isResting(at: now) { return .wrong(nil) }
        guard let secret = enrolled?.secret, let step = typed.step(secret) else {
            let told = wrongGuesses == Self.guessesBeforeRest - 1 ? typed.mail : nil
            return .wrong(.refused(at: now, account: told.map { _ in account }, mail: told))
        }
        return step > lastStep ? .good(.used(step: step)) : .wrong(nil)
    }
}

/// A second factor as a person typed it. Whose it is and which secret it belongs to is known only
/// where it is decided on: cryptography comes along as functions without effects.
public struct TypedFactor: Sendable {
    /// The latest period around now whose code this is.
    let step: @Sendable (_ secret: String) -> Int64?
    /// The keyed digest of it as a recovery code.
    let recoveryDigest: @Sendable (_ account: UUID) -> SecretDigest?
    /// The name of the mail that tells of guesses, if there is one to be sent.
    let mail: UUID?

    public init(
        mail: UUID? = nil,
        step: @escaping @Sendable (_ secret: String) -> Int64?,
        recoveryDigest: @escaping @Sendable (_ account: UUID) -> SecretDigest?
    ) {
        self.mail = mail
        self.step = step
        self.recoveryDigest = recoveryDigest
    }
}
