/// Of which world of Apple's a key has to come.
public enum AppAttestEnvironment: String, CaseIterable, Sendable {
    case production
    case development
}

/// What Google may be asked to say of a device beside that the app is genuine.
public enum IntegrityDemand: String, CaseIterable, Sendable {
    case recognizedApp = "PLAY_RECOGNIZED"
    case basicIntegrity = "MEETS_BASIC_INTEGRITY"
    case deviceIntegrity = "MEETS_DEVICE_INTEGRITY"
    case strongIntegrity = "MEETS_STRONG_INTEGRITY"
    case licensed = "LICENSED"
}

/// What SafetyNet may be asked to say of a device beside its basic integrity.
public enum SafetyNetDemand: String, CaseIterable, Sendable {
    /// The device passes Android's compatibility tests: `ctsProfileMatch`.
    case profileMatch = "CTS_PROFILE_MATCH"
}

/// Settings of realms of the flagship profile.
extension SettingCatalogue {
    private static let day: Int64 = 86_400

    public static let profile = Declare.choice(
        "profile", RealmProfile.standard, "Profile of the realm, which decides on its routes")
    public static let installationTokenLifetime = Declare.seconds(
        "installation_token_lifetime", day, in: 60...(7 * day),
        "How long an access token of an installation is valid")
    public static let certifiedApps = Declare.texts(
        "certified_apps", .certifiedApps(limit: 50),
        "The apps that stores may vouch for; where none is named, the native apps. official is the app as its makers "
            + "publish it")
    public static let appAttestRoots = Declare.texts(
        "app_attest_roots", .certificates(limit: 10),
        "Certificate authorities for App Attest; Apple's by default")
    public static let appAttestEnvironment = Declare.choice(
        "app_attest_environment", AppAttestEnvironment.production,
        "Environment of App Attest keys")
    public static let integrityDemands = Declare.texts(
        "play_integrity_demands", .selection(IntegrityDemand.allCases.map(\.rawValue)),
        "Play Integrity verdicts that a device needs beside the genuine app")
    public static let attestationAge = Declare.seconds(
        "attestation_age", 600, in: 60...(7 * day),
        "Maximum age of an attestation, if it has a time")
    public static let safetyNet = Declare.flag(
        "safety_net", false, "Whether SafetyNet verdicts are accepted, which Google no longer gives"
    )
    public static let safetyNetDemands = Declare.texts(
        "safety_net_demands", .selection(SafetyNetDemand.allCases.map(\.rawValue)),
        unless: [SafetyNetDemand.profileMatch.rawValue],
        "SafetyNet verdicts that a device needs beside its basic integrity")
    public static let safetyNetRoots = Declare.texts(
        "safety_net_roots", .certificates(limit: 10),
        "Certificate authorities for SafetyNet verdicts")
    public static let ownerLinks = Declare.flag(
        "owner_links", false,
        "Whether the realm's owner may sign in by a link that is mailed to him")
    public static let longSessionLifetime = Declare.seconds(
        "long_session_lifetime", 3_650 * day, in: 3_600...(3_650 * day),
        "Lifetime of the owner's long session, in a browser of his own")
    public static let defaultWebApp = Declare.text(
        "default_web_app", .label(limit: 63),
        "Slug of the web app that users return to by default")
    public static let installationLimit = Declare.count(
        "installation_limit", 0, in: 0...1_000,
        "Maximum number of installations of an owner; 0 for no limit")
    public static let mailsNotifications = Declare.flag(
        "notification_mails", true,
        "Whether notifications that no device takes are sent by mail")
}
