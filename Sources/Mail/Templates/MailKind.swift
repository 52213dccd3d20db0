public import Values

/// The reason for a mail, with the values that only this mail contains.
public enum MailKind: Sendable, Hashable {
    case emailOtp(code: String, minutes: Int)
    /// Beside a passphrase.
    case secondFactorCode(code: String, minutes: Int)
    /// An app wants to be trusted for which no store vouches.
    case certificationCode(code: String, minutes: Int)
    case magicLink(MailLink, minutes: Int)
    case emailVerification(MailLink, minutes: Int)
    /// Goes to the address that a user wants for their account from now on.
    case emailChangeCode(code: String, minutes: Int)
    /// By which a person sets another PIN for a tenant's apps.
    case pinResetCode(code: String, minutes: Int)
    case passphraseReset(MailLink, minutes: Int)
    /// By which the owner of a realm takes it over.
    case ownerInvitation(MailLink)
    case passphraseHint(String)
    /// What a provider says signs in to the account from now on.
    case providerConnected(name: String, at: Timestamp)
    case passkeyEnrolled(device: String, at: Timestamp)
    case passkeyRemoved(device: String, at: Timestamp)
    case totpEnrolled(at: Timestamp)
    case totpRemoved(at: Timestamp)
    case passphraseSet(at: Timestamp)
    /// For the apps of a tenant.
    case pinSet(at: Timestamp)
    case passphraseRemoved(at: Timestamp)
    /// Wrong passphrases were typed, one after the other.
    case passphraseGuessed(at: Timestamp)
    /// A person who had another factor typed wrong codes of the second one.
    case totpGuessed(at: Timestamp)
    /// An app on a device was let in.
    case deviceAdded(device: String, at: Timestamp)
    /// The installation has full access from now on.
    case deviceCertified(device: String, at: Timestamp)
    /// Goes to the user's previous address.
    case addressChanged(at: Timestamp)
    /// Goes to the mail address that the user had before: beside it there is a phone number, or was.
    case addressesChanged(at: Timestamp)
    case signedOutEverywhere(at: Timestamp)
    case accountDisabled(at: Timestamp)
    /// The account is to be deleted, and only an administrator can cancel it, and mostly has ordered it.
    case accountDeletion(at: Timestamp)
    /// The same where its owner asked for it: the link keeps it.
    case accountDeletionAsked(MailLink, at: Timestamp)

    /// What an app wanted to show on a device, and no device took.
    case notification(title: String, message: String, sender: String)

    /// Goes to the realm's contact: nothing that is sent to a subscriber is taken.
    case subscriberFails(name: String, since: Timestamp)
    /// Goes to the realm's contact: nothing is sent to a subscriber any more.
    case subscriberStopped(name: String, at: Timestamp)

    /// The kinds by name, as settings and the log have them.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        case emailOtp = "EmailOtp"
        case secondFactorCode = "SecondFactorCode"
        case certificationCode = "CertificationCode"
        case magicLink = "MagicLink"
        case emailVerification = "EmailVerification"
        case emailChangeCode = "EmailChangeCode"
        case pinResetCode = "PinResetCode"
        case passphraseReset = "PassphraseReset"
        case ownerInvitation = "OwnerInvitation"
        case passphraseHint = "PassphraseHint"
        case providerConnected = "ProviderConnected"
        case passkeyEnrolled = "PasskeyEnrolled"
        case passkeyRemoved = "PasskeyRemoved"
        case totpEnrolled = "TotpEnrolled"
        case totpRemoved = "TotpRemoved"
        case passphraseSet = "PassphraseSet"
        case pinSet = "PinSet"
        case passphraseRemoved = "PassphraseRemoved"
        case passphraseGuessed = "PassphraseGuessed"
        case totpGuessed = "TotpGuessed"
        case deviceAdded = "DeviceAdded"
        case deviceCertified = "DeviceCertified"
        case addressChanged = "AddressChanged"
        case addressesChanged = "AddressesChanged"
        case signedOutEverywhere = "SignedOutEverywhere"
        case accountDisabled = "AccountDisabled"
        case accountDeletion = "AccountDeletion"
        case accountDeletionAsked = "AccountDeletionAsked"
        case notification = "Notification"
        case subscriberFails = "SubscriberFails"
        case subscriberStopped = "SubscriberStopped"
    }

    public var name: Name {
        switch self {
        case .emailOtp: .emailOtp
        case .secondFactorCode: .secondFactorCode
        case .certificationCode: .certificationCode
        case .magicLink: .magicLink
        case .emailVerification: .emailVerification
        case .emailChangeCode: .emailChangeCode
        case .pinResetCode: .pinResetCode
        case .passphraseReset: .passphraseReset
        case .ownerInvitation: .ownerInvitation
        case .passphraseHint: .passphraseHint
        case .providerConnected: .providerConnected
        case .passkeyEnrolled: .passkeyEnrolled
        case .passkeyRemoved: .passkeyRemoved
        case .totpEnrolled: .totpEnrolled
        case .totpRemoved: .totpRemoved
        case .passphraseSet: .passphraseSet
        case .pinSet: .pinSet
        case .passphraseRemoved: .passphraseRemoved
        case .passphraseGuessed: .passphraseGuessed
        case .totpGuessed: .totpGuessed
        case .deviceAdded: .deviceAdded
        case .deviceCertified: .deviceCertified
        case .addressChanged: .addressChanged
        case .addressesChanged: .addressesChanged
        case .signedOutEverywhere: .signedOutEverywhere
        case .accountDisabled: .accountDisabled
        case .accountDeletion: .accountDeletion
        case .accountDeletionAsked: .accountDeletionAsked
        case .notification: .notification
        case .subscriberFails: .subscriberFails
        case .subscriberStopped: .subscriberStopped
        }
    }
}
