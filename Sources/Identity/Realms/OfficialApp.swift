public import JSON

/// The flagship app as its makers publish it: what their own server trusts where nothing else is configured. A
/// realm has all of it by the one word `official` in `certified_apps`.
public enum OfficialApp {
    public static let name = "official"

    /// The second fingerprint is that of the makers' example of a configuration, the first that of their server.
    public static let apps: [NativeApp] = packages.flatMap { package in
        fingerprints.map { NativeApp.android(package: package, fingerprint: $0) }
            + [.apple("3AKXFMV43J.\(package)")]
    }

    private static let packages = ["io.cozy.flagship.mobile", "io.cozy.drive.mobile"]
    private static let fingerprints = [
        "BB67945277C1E18EE4EDEA902FBBB68E260325E541C19A125773D94ACF29B6D7",
        "C4D9C7ED3D4148387A7AB333372B1F6A40552CB69C6D26CE331564F2310F81D5",
    ]

    /// By which Google signs its verdicts on the app.
    public static let verificationKey: JSON = [
        "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig",
        "x": "lTF2uARN7oxfoDWyERYMe6QutI2NqS-CAtVmsPDIRjA",
        "y": "QcRfen2KIxVV0UbDG_Oj45BNtTpfrDtWLrKWPmLg0TM",
    ]
    /// By which the verdicts are read, in base64url. It is published, so that it keeps nothing secret: what is
    /// believed is the signature.
    public static let decryptionKey = "bVcBAv0eO64NKIvDoRHpnTOZVxAkhMuFwRHrTEMr23U"
}

extension NativeApp {
    /// What an element of `certified_apps` stands for.
    public static func certified(_ text: String) -> [NativeApp] {
        text == OfficialApp.name ? OfficialApp.apps : NativeApp(text).map { [$0] } ?? []
    }
}
