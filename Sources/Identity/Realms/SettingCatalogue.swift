public import JSON

/// Who may join a realm, and how.
public enum RegistrationPosture: String, CaseIterable, Sendable {
    /// Self-registration is off.
    case off
    /// A person who proves a new mail address gets an account.
    case jitOnOTP = "jit_on_otp"
    /// Only through the registration endpoint.
    case explicitEndpoint = "explicit_endpoint"
    /// Only with an invite code.
    case inviteCode = "invite_code"
}

/// Whether a field is asked for at registration.
public enum FieldDemand: String, CaseIterable, Sendable {
    case off
    case optional
    case required
}

/// How strong sign-ins have to be.
public enum SignInLevel: String, CaseIterable, Sendable {
    case single
    /// A passkey, or two factors.
    case multi
}

/// Which table of routes a realm has beside the standard ones.
public enum RealmProfile: String, CaseIterable, Sendable {
    case standard
    /// One owner, and one app that may have everything: decision 0035.
    case flagship
    /// Tenants have mail addresses and phone numbers proved on a page of the realm: decision 0133.
    case verify
    /// Devices show people to services by assertions: decision 0134.
    case federation
}

/// The languages that Urd speaks to people.
public enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"
}

/// All settings there are. A new one is one declaration and one line in `all`.
public enum SettingCatalogue {
    private static let hour: Int64 = 3_600
    private static let day: Int64 = 86_400

    public static let displayName = Declare.required(
        "display_name", .label(limit: 200), perApp: true, "The name that people see")
    public static let primaryDomain = Declare.text(
        "primary_domain", .hostName,
        "The domain that passkeys belong to and that apps have their sub-domain under")
    public static let linksBaseURL = Declare.text(
        "links_base_url", .webAddress, perApp: true, "Base URL of the links in mails")
    public static let mailFrom = Declare.text(
        "mail_from", .mailAddress, perApp: true, "The address that mails come from")
    public static let mailFromName = Declare.text(
        "mail_from_name", .label(limit: 100), perApp: true, "The name that mails come from")

    public static let mailFooter = Declare.text(
        "mail_footer", .label(limit: 400), perApp: true,
        "Footer of every mail: sender and postal address")
    public static let contact = Declare.text(
        "contact", .mailAddress,
        "The address that is told what administrators have to look at, such as a webhook that takes "
            + "nothing")
    public static let language = Declare.choice(
        "language", Language.english, perApp: true,
        "The language to speak to people whose own is not known")
    public static let accentColour = Declare.text(
        "accent_colour", .colour, perApp: true, "The colour of buttons")
    public static let logoURL = Declare.text(
        "logo_url", .webAddress, perApp: true, "The logo in mails and pages")

    public static let nativeGrants = Declare.flag(
        "native_grants", false, perApp: true,
        "Whether apps may sign people in by code, link or passkey without a browser")
    public static let loginCode = Declare.flag(
        "login_code", true, perApp: true,
        "Whether people may sign in on a page by a code that is mailed to them")
    public static let phoneSignIn = Declare.flag(
        "phone_sign_in", false, perApp: true,
        "Whether people may sign in by a code that is sent to their phone, by its number")
    public static let phoneCountries = Declare.texts(
        "phone_countries", .regions(limit: 250),
        "The countries whose phone numbers are taken, by ISO 3166: none, until some are named. A number "
            + "without a country's code is of the first one")
    public static let phoneChannels = Declare.texts(
        "phone_channels", .selection(Channel.ofPhones.map(\.rawValue)),
        unless: [Channel.sms.rawValue],
        "Channels of messages to phones: the next one if one fails")
    public static let loginLink = Declare.flag(
        "login_link", false, perApp: true,
        "Whether people may sign in on a page by a link that is mailed to them")
    public static let loginPasskey = Declare.flag(
        "login_passkey", true, perApp: true,
        "Whether people may sign in on a page by a passkey, where the realm has a domain for them")
    public static let loginPassphrase = Declare.flag(
        "login_passphrase", false, perApp: true,
        "Whether people may set a passphrase, and sign in on a page by it")
    public static let signInLevel = Declare.choice(
        "sign_in_level", SignInLevel.single, perApp: true,
        "Required strength of sign-ins: multi is a passkey, or two factors")
    public static let browserSessionLifetime = Declare.seconds(
        "browser_session_lifetime", 14 * day, in: 300...(365 * day), perApp: true,
        "Lifetime of a browser session")
    public static let registration = Declare.choice(
        "registration", RegistrationPosture.off, perApp: true,
        "Registration mode; jit_on_otp by default for an app with native_grants"
    )
    public static let registrationFirstName = Declare.choice(
        "registration_first_name", FieldDemand.optional, perApp: true,
        "Whether registration asks for the first name")
    public static let registrationLastName = Declare.choice(
        "registration_last_name", FieldDemand.optional, perApp: true,
        "Whether registration asks for the last name")

    public static let assertionForTokenURL = Declare.flag(
        "client_assertion_for_token_url", false,
        "Whether a client's assertion may name the token endpoint instead of the issuer")
    public static let nativeApps = Declare.texts(
        "native_apps", .apps(limit: 20), perApp: true,
        "Apps on phones that may use the domain's passkeys and open its links")

    public static let recordPlaces = Declare.flag(
        "record_places", true,
        "Whether the country, the city and the autonomous system of a sign-in are put on record, where the "
            + "operator has a database of addresses")
    public static let signalVerification = Declare.seconds(
        "signal_verification_interval", 60, in: 0...3_600,
        "Minimum interval between two verifications of a signal stream")
    public static let clientRegistration = Declare.choice(
        "client_registration", ClientRegistration.closed, perApp: true,
        "Dynamic client registration (RFC 7591): clients that may register themselves")
    public static let statementIssuers = Declare.object(
        "software_statement_issuers", .issuers(limit: TrustedIssuer.mostIssuers),
        "Whose statements about clients are believed: by issuer, with jwks or jwks_uri. They give "
            + "no right that open registration does not")

    public static let resources = Declare.texts(
        "resources", .resources(limit: 100),
        "The resources that clients may ask tokens for which have no list of their own; any, where "
            + "none is named")
    public static let uncheckedScopes = Declare.texts(
        "unchecked_scopes", .scopes(limit: 100), perApp: true,
        "The scopes that clients which register themselves may have beside the standard ones; others "
            + "are left out of their registration")
    public static let uncheckedResources = Declare.texts(
        "unchecked_resources", .resources(limit: 100),
        "The resources that clients which registered themselves may ask tokens for; those of "
            + "resources, where none is named")

    public static let roles = Declare.object(
        "roles", .roles,
        "The roles that accounts can have: by audience (a resource, or a scope that stands for one), "
            + "each with what it permits")

    public static let proofNonces = Declare.flag(
        "dpop_nonces", false,
        "Whether DPoP proofs (RFC 9449) must have a nonce of this server")

    public static let assertionIssuers = Declare.object(
        "assertion_issuers", .issuers(limit: TrustedIssuer.mostIssuers),
        "Issuers whose assertions sign users in: by issuer, with jwks or jwks_uri, or with certificates "
            + "(PEM) if it issues SAML assertions for services of the federation profile, and how it names "
            + "accounts (subject: account, by sub; or email, by the claim email with email_verified "
            + "true, and sub is not compared)")
    public static let deviceCodeLifetime = Declare.seconds(
        "device_code_lifetime", 600, in: 60...hour, perApp: true,
        "Lifetime of a device code (RFC 8628)")

    public static let codeLifetime = Declare.seconds(
        "code_lifetime", 60, in: 10...600, "Lifetime of an authorization code")
    public static let accessTokenLifetime = Declare.seconds(
        "access_token_lifetime", hour, in: 60...(7 * day), perApp: true,
        "Lifetime of an access token")
    public static let nativeAccessTokenLifetime = Declare.seconds(
        "native_access_token_lifetime", 900, in: 60...hour, perApp: true,
        "Lifetime of an access token from a sign-in without a browser")
    public static let refreshTokenLifetime = Declare.seconds(
        "refresh_token_lifetime", 14 * day, in: day...(3_650 * day), perApp: true,
        "Lifetime of an unused refresh token")
    public static let refreshTokenLeeway = Declare.seconds(
        "refresh_token_leeway", 10, in: 0...300, perApp: true,
        "Leeway in which a client that lost the response may repeat a refresh")
    public static let refreshTokenLateRepeat = Declare.seconds(
        "refresh_token_late_repeat", day, in: 0...(30 * day), perApp: true,
        "How long a client may repeat a refresh after the leeway, while the token that it did not "
            + "receive is unused: it gets a new token and that one is void; 0, or a leeway of 0, "
            + "turns this off")
    public static let sessionLifetime = Declare.seconds(
        "session_lifetime", 365 * day, in: day...(3_650 * day), perApp: true,
        "Maximum lifetime of a session")

    public static let otpLifetime = Declare.seconds(
        "otp_lifetime", 600, in: 60...hour, perApp: true, "Lifetime of a mailed code")
    public static let otpAttempts = Declare.count(
        "otp_attempts", 3, in: 1...10, perApp: true,
        "Number of wrong guesses after which a mailed code is void")
    public static let otpResendDelay = Declare.seconds(
        "otp_resend_delay", 120, in: 0...hour, perApp: true,
        "Minimum interval between two mailed codes")
    public static let uniformDelay = Declare.count(
        "uniform_delay", 300, in: 0...5_000,
        "How many milliseconds an answer takes at most that must not tell by its speed what was "
            + "found, and a third of it at least")
    public static let magicLinkLifetime = Declare.seconds(
        "magic_link_lifetime", 900, in: 60...hour, perApp: true, "Lifetime of a mailed link")
    public static let inviteLifetime = Declare.seconds(
        "invite_lifetime", 14 * day, in: hour...(365 * day), perApp: true,
        "Lifetime of an invite code")

    public static let recentSignIn = Declare.seconds(
        "recent_sign_in", day, in: 0...(365 * day), perApp: true,
        "How long after signing in a person may change how they sign in, or delete the account; "
            + "0 for ever")
    public static let logoutEndsOffline = Declare.flag(
        "logout_ends_offline_access", false,
        "Whether logging out in a browser also ends what apps were given for while one is away")
    public static let accountDeletionGrace = Declare.seconds(
        "account_deletion_grace", 30 * day, in: 0...(365 * day),
        "Time in which the deletion of an account can be cancelled")
    public static let mailWords = Declare.object(
        "mail_words", .mailWords, perApp: true,
        "Texts of the realm for its mails, by kind, language and part")
    public static let rateLimits = Declare.object(
        "rate_limits", .rates, "Rate limits of the realm that differ from the defaults")

    public static let all: [Setting] =
        [
            displayName.setting, primaryDomain.setting, linksBaseURL.setting, mailFrom.setting,
            mailFromName.setting, mailFooter.setting, contact.setting, language.setting,
            accentColour.setting,
            logoURL.setting, nativeGrants.setting, registration.setting,
            registrationFirstName.setting, registrationLastName.setting,
            assertionForTokenURL.setting, codeLifetime.setting,
            accessTokenLifetime.setting, nativeAccessTokenLifetime.setting,
            refreshTokenLifetime.setting, refreshTokenLeeway.setting,
            refreshTokenLateRepeat.setting, sessionLifetime.setting,
            otpLifetime.setting, otpAttempts.setting, otpResendDelay.setting, uniformDelay.setting,
            magicLinkLifetime.setting, inviteLifetime.setting, recentSignIn.setting,
            accountDeletionGrace.setting, logoutEndsOffline.setting, rateLimits.setting,
            nativeApps.setting, mailWords.setting,
            resources.setting, uncheckedScopes.setting, uncheckedResources.setting, roles.setting,
            clientRegistration.setting, statementIssuers.setting,
            proofNonces.setting, recordPlaces.setting, signalVerification.setting,
            assertionIssuers.setting, deviceCodeLifetime.setting,
        ] + passkeys + pages + flagship + captchas + publishedClients

    private static let flagship = [
        profile.setting, installationTokenLifetime.setting, appAttestRoots.setting,
        appAttestEnvironment.setting, certifiedApps.setting, integrityDemands.setting,
        attestationAge.setting, ownerLinks.setting, safetyNet.setting,
        safetyNetDemands.setting, safetyNetRoots.setting, defaultWebApp.setting,
        installationLimit.setting,
        mailsNotifications.setting,
    ]

    private static let pages = [
        loginCode.setting, phoneSignIn.setting, phoneCountries.setting, phoneChannels.setting,
        loginLink.setting, loginPasskey.setting,
        loginPassphrase.setting, signInLevel.setting, browserSessionLifetime.setting,
        longSessionLifetime.setting,
    ]

    public static func find(_ name: String) -> Setting? { byName[name] }

    private static let byName = Dictionary(
        all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// A set of changes as JSON Schema: of a realm, or of an app, which has fewer.
    public static func schema(perApp: Bool) -> JSON {
        let properties = all.filter { $0.perApp || !perApp }.map { ($0.name, $0.schema) }
        return [
            "type": "object", "additionalProperties": false,
            "properties": .object(JSONObject(properties)),
        ]
    }
}
