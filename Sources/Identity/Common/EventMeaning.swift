public import EventSourcing

extension FormedEvent {
    public typealias Meaning = EventMeaning
}

/// What a kind of event says to the readers that follow many kinds: the rules for findings, policies, records of OCSF
/// and shared signals. Each event names its meaning in its form, and each of these readers switches over all of
/// them, so that neither a new event nor a new meaning compiles before there is an answer.
public enum EventMeaning: Sendable, Hashable {
    /// An implementation detail: no reader looks at the event.
    case detail

    // MARK: - Sessions

    case signedIn(SessionPlace)
    /// A failed sign-in, or one that was stopped after the first factor.
    case signInRefused
    case sessionEnded(SessionPlace)
    case sessionRefreshed
    case administratorRefused

    // MARK: - Steps on the way to a sign-in

    case step(SignInStep)
    case secondFactorAsked
    case codeMailed
    /// A link to sign in or to set another passphrase.
    case linkMailed

    // MARK: - Credentials

    case secretSet(GuessableSecret)
    case secretRemoved(GuessableSecret)
    /// A wrong guess.
    case secretRefused(GuessableSecret)
    case secretUsed(GuessableSecret)
    case recoveryCodesRenewed
    case factorAdded(SignInFactor)
    case factorRemoved(SignInFactor)
    case passkeyRefused
    case passkeyRenamed
    /// Whether a mailed code is needed beside the passphrase.
    case mailedCodesChanged

    // MARK: - Accounts

    case registered
    case accountDisabled
    case accountEnabled
    case deletionScheduled
    case deletionCancelled
    case accountDeleted
    case accountErased
    /// All that an account had at one client, on one device or in one browser.
    case accessRemoved
    /// The account's sessions ended.
    case stampRotated
    case rolesChanged
    case ownerAppointed
    case consentGiven
    case consentWithdrawn
    case personChanged
    case mailboxChanged
    case mailboxMoved
    /// What helps a person to come back in: other addresses, providers, a hint.
    case recoveryChanged
    case recoveryRequested
    /// Any other change of an account.
    case accountChanged

    // MARK: - Devices

    case deviceAdded
    case deviceRemoved
    case deviceCertified
    case certificationRevoked

    // MARK: - Administration

    /// A change of the configuration, as administrators make them.
    case administration(ObjectChange)
    case realmSettingsChanged
    /// Personal data that an administrator opened.
    case disclosed
    case caseFileIssued

    // MARK: - Findings

    case findingRaised
    case findingEscalated
    case findingClosed
    case findingRulesSet

    /// A change of any other object.
    case object(ObjectChange)
}

/// The kind of a session: of a client, or of a browser for its clients.
public enum SessionPlace: Sendable, Hashable {
    case browser, client
}

/// The outcome of a step on the way to a sign-in.
public enum SignInStep: Sendable, Hashable {
    case passed, refused, awaited
}

/// A credential that can be guessed, so that its wrong guesses are counted.
public enum GuessableSecret: Sendable, Hashable {
    case passphrase
    /// A passphrase of which the server knows a derived key alone.
    case derivedPassphrase
    case pin
    /// The codes of an authenticator app.
    case authenticator
    case recoveryCode
}

/// A credential that stands beside a first factor, or in its place.
public enum SignInFactor: Sendable, Hashable {
    case passkey
    case authenticator
    /// A key that a tenant's app keeps on a device.
    case deviceKey
}

/// The change of an object that is not an account.
public enum ObjectChange: Sendable, Hashable {
    case created, updated, removed, enrolled, enabled, disabled, activated, deactivated, other
    /// Created the first time, updated later.
    case configured
}
