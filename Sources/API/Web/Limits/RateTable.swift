/// The requests that share a rate limit.
public enum RatePolicy: String, CaseIterable, Sendable {
    /// Asking for a code, and registering.
    case nativeOTP = "native-otp"
    /// Asking for a code that goes to a phone, which costs money.
    case phoneCode = "phone-code"
    /// The same for phone numbers that begin alike: all but their last four digits.
    case phoneBlock = "phone-block"
    /// Asking for a code by mail on the page for tenants.
    case verifyCode = "verify-code"
    /// Asking for any code there, by browser.
    case verifyBrowser = "verify-browser"
    case magicLink = "magic-link"
    case passwordReset = "password-reset"
    case emailVerification = "email-verification"
    /// Proving a mailed code outside of the token endpoint.
    case emailOTPVerify = "email-otp-verify"
    /// Typing a passphrase: apart from codes, so that an attacker who guesses the one doesn't lock
    /// the owner out of the other.
    case passphrase
    /// Typing a passphrase on a device of the federation profile, by account and by device.
    case federationLogin = "federation-login"
    /// Beginning to sign in with a passkey, or to enrol one.
    case passkeyBegin = "passkey-begin"
    /// PasskeyEnrollment an authenticator app, and proving it outside of the token endpoint.
    case twoFactor = "two-factor"
    case oauthToken = "oauth-token"
    /// Asking for a device's code, and typing one.
    case deviceCode = "device-code"
    /// Clients that register themselves.
    case clientRegistration = "client-registration"
    case bootstrap
    /// Apps of the flagship profile that register, and ask for challenges.
    case installation
    /// An owner's passphrase, link or code.
    case ownerSignIn = "owner-sign-in"
    /// Codes that are mailed to an owner.
    case ownerMail = "owner-mail"
    /// Codes by which an owner certifies an app: mails and guesses together.
    case certification
    /// Links to sign in by that are mailed to an owner.
    case ownerLink = "owner-link"
    /// Invalid links of an owner: apart from the mails, so that an attacker who guesses doesn't
    /// keep an owner from having one.
    case ownerLinkCheck = "owner-link-check"
    /// Going to an OpenID provider, and coming back from it.
    case provider
    /// Hints that are mailed to an owner.
    case ownerHint = "owner-hint"
    /// Mails by which an owner takes their realm over.
    case ownerInvitation = "owner-invitation"
    /// What apps want an owner's devices to show.
    case notification
    /// What gateways say of messages.
    case messageReceipt = "message-receipt"
}

/// The dimension that a rate limit counts by.
public enum RateDimension: String, CaseIterable, Sendable {
    /// The network that it comes from: an IPv4 address, or the first half of an IPv6 one.
    case source
    /// The mailbox or the account that it is about, or the session of the token that it shows.
    case target
    /// The client that authenticated; of one that did not, what comes from one network.
    case client
    /// Joins at one app; messages that cost money, and registrations of clients, there.
    case app
    /// Registrations from one network: a source beyond the limit is not told.
    case signUps = "sign-ups"
}

/// The rates that hold for one realm.
public struct RateTable: Sendable {
    private var rates: [RatePolicy: [RateDimension: Rate]] = [:]

    /// The rate limit; nil for none.
    public subscript(policy: RatePolicy, dimension: RateDimension) -> Rate? {
        get { rates[policy]?[dimension] }
        set { rates[policy, default: [:]][dimension] = newValue }
    }

    /// What holds where a realm has nothing else set.
    public static let standard: RateTable = {
        let minute = Duration.seconds(60)
        let hour = Duration.seconds(3_600)
        var table = RateTable()
        for policy in [
            RatePolicy.nativeOTP, .magicLink, .passwordReset, .emailVerification,
        ] {
            table[policy, .source] = Rate(1_200, per: hour, burst: 300)
            table[policy, .target] = Rate(5, per: hour)
            table[policy, .client] = Rate(600, per: hour)
        }
        // People of the app have mailboxes of their own: what strangers ask for keeps none of them out.
        table[.nativeOTP, .app] = Rate(3_000, per: hour)
        table[.nativeOTP, .signUps] = Rate(10, per: hour)
        table[.phoneCode, .source] = Rate(10, per: .seconds(300))
        table[.phoneCode, .target] = Rate(5, per: .seconds(300))
        table[.phoneCode, .app] = Rate(1_000, per: hour)
        table[.phoneBlock, .target] = Rate(40, per: hour)
        table[.verifyCode, .source] = Rate(10, per: .seconds(300))
        table[.verifyCode, .target] = Rate(5, per: .seconds(300))
        table[.verifyBrowser, .target] = Rate(5, per: .seconds(300))
        table[.emailOTPVerify, .source] = Rate(600, per: minute, burst: 200)
        table[.emailOTPVerify, .target] = Rate(15, per: minute)
        table[.emailOTPVerify, .client] = Rate(600, per: minute)
        table[.passphrase, .source] = Rate(600, per: minute, burst: 200)
        table[.passphrase, .target] = Rate(15, per: minute)
        table[.federationLogin, .source] = Rate(600, per: minute, burst: 200)
        table[.federationLogin, .target] = Rate(10, per: .seconds(900))
        table[.passkeyBegin, .source] = Rate(1_200, per: .seconds(300), burst: 300)
        table[.passkeyBegin, .target] = Rate(60, per: .seconds(300))
        table[.passkeyBegin, .client] = Rate(1_200, per: .seconds(300))
        table[.twoFactor, .source] = Rate(600, per: minute, burst: 200)
        table[.twoFactor, .target] = Rate(15, per: minute)
        table[.oauthToken, .source] = Rate(600, per: minute, burst: 200)
        table[.oauthToken, .target] = Rate(60, per: minute, burst: 60)
        table[.oauthToken, .client] = Rate(60, per: minute, burst: 60)
        table[.deviceCode, .source] = Rate(600, per: hour, burst: 60)
        table[.deviceCode, .target] = Rate(10, per: minute)
        table[.deviceCode, .client] = Rate(600, per: minute)
        table[.clientRegistration, .source] = Rate(120, per: hour, burst: 40)
        table[.clientRegistration, .app] = Rate(1_200, per: hour)
        table[.bootstrap, .source] = Rate(30, per: .seconds(900), burst: 10)
        // One network uses up half of what there is for the owner, and never all of it.
        table[.installation, .source] = Rate(25, per: hour)
        table[.installation, .target] = Rate(50, per: hour)
        table[.ownerSignIn, .source] = Rate(500, per: hour)
        table[.ownerSignIn, .target] = Rate(1_000, per: hour)
        table[.ownerMail, .target] = Rate(20, per: hour)
        table[.certification, .target] = Rate(30, per: hour)
        table[.ownerLink, .target] = Rate(30, per: hour)
        table[.ownerLinkCheck, .target] = Rate(30, per: hour)
        table[.provider, .source] = Rate(600, per: minute, burst: 200)
        table[.ownerHint, .target] = Rate(2, per: hour)
        table[.ownerInvitation, .target] = Rate(2, per: hour)
        table[.messageReceipt, .source] = Rate(1_200, per: minute, burst: 1_200)
        table[.notification, .target] = Rate(30, per: hour)
        return table
    }()
}
