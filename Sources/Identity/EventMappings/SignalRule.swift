/// Which signal an event of one type amounts to, and when.
public struct SignalRule: Sendable, Equatable {
    public enum Condition: String, Sendable {
        case always
        /// A sign-in that takes the place of another of the same person ends nothing for them.
        case unlessReplaced = "unless replaced"
        /// A client's own session is no person's.
        case ofAnAccount = "of an account"
        case forPassphraseReset = "for a passphrase reset"
        /// The browser had a session before, with more or fewer factors.
        case ifLevelDiffers = "if the level differs"
        /// The greatest level of the account's open findings is another one than before.
        case ifRiskDiffers = "if the risk differs"
        /// There are new values that the receiver may see.
        case withClaims = "with claims"
    }

    /// What the signal is about.
    public enum Subject: String, Sendable {
        /// The user, and so all that they have.
        case user
        /// One session of the user.
        case session = "session and user"
        /// One device of the user.
        case device = "device and user"
    }

    /// What the claims of the signal's own are.
    public enum Content: Sendable, Equatable {
        case none
        /// New values of some of these claims.
        case claims([String])
        case credential(CredentialKind, CredentialChange)
        /// How the person authenticated.
        case authentication
        case assuranceLevel
        case compliance(isNow: Bool)
        /// The risk that the user is, and was before.
        case risk
    }

    public let kind: SignalKind
    public let condition: Condition
    public let subject: Subject
    public let content: Content
    /// Whether a receiver is sent it only where its stream asks for it.
    public let isOnRequest: Bool

    init(
        _ kind: SignalKind, _ condition: Condition = .always, of subject: Subject = .user,
        _ content: Content = .none, onRequest: Bool = false
    ) {
        self.kind = kind
        self.condition = condition
        self.subject = subject
        self.content = content
        isOnRequest = onRequest
    }

    static func credential(
        _ kind: CredentialKind, _ change: CredentialChange, onRequest: Bool = false
    ) -> SignalRule {
        SignalRule(
            .credentialChange, .always, of: .user, .credential(kind, change), onRequest: onRequest)
    }

    static func newClaims(_ names: String...) -> SignalRule {
        SignalRule(
            .tokenClaimsChange, .withClaims, of: .user, .claims(names), onRequest: true)
    }
}

/// What `credential_type` says. Which of the two a passkey is, its transports tell.
public enum CredentialKind: String, Sendable {
    case password
    case passkey
    case app
    /// No type of CAEP's own; receivers must have agreed to it.
    case recoveryCode = "recovery-code"
}

/// What `change_type` says.
public enum CredentialChange: String, Sendable {
    case create
    case update
    case delete
    /// To create the first one, and to update it later.
    case set
}
