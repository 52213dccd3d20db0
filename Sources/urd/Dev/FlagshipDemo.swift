import Cryptography
import Identity
import JOSE
import JSON
import Values

/// What stands for Apple and Google on a developer's machine: keys of this run, so that a
/// script can vouch for an app as they would.
struct DemoStores: Equatable, Sendable {
    static let team = "DEMODEMO01.io.example.flagship"
    static let package = "io.example.flagship"
    /// Stands for the SHA-256 of a certificate; no certificate has it.
    static let fingerprint = String(repeating: "0D", count: 32)

    let appleKey: String
    let appleRoot: String
    let playSigningKey: String
    let playKeys: JSON
    let playDecryptionKey: String

    init() throws {
        let apple = try ES256.PrivateKey.generate()
        appleKey = Base64.encode(try apple.pkcs8().exposedCopy())
        appleRoot = Base64.encode(try apple.selfSignedAuthority(named: "Urd demo store"))
        let play = try SigningKey.generate(.es256)
        playSigningKey = Base64.encode(try play.pkcs8().exposedCopy())
        playKeys = ["keys": [play.verificationKey.jwk]]
        playDecryptionKey = Base64.encode(Random.bytes(32))
    }

    var lines: [(name: String, value: String)] {
        [
            ("URD_FLAGSHIP_APPLE_KEY", appleKey),
            ("URD_FLAGSHIP_PLAY_SIGNING_KEY", playSigningKey),
            ("URD_FLAGSHIP_PLAY_DECRYPTION_KEY", playDecryptionKey),
        ]
    }
}

/// The demo realm of the flagship profile, at `flagship.localhost`: with an owner who has not taken it
/// over, and with stores of our own to vouch for apps.
extension DemoData {
    static let flagshipRealm = "flagship"

    func prepareFlagship(_ stores: DemoStores) async throws {
        try await prepareRealm(
            Self.flagshipRealm, "Flagship demo", at: "flagship.localhost",
            [
                "profile": "flagship",
                "app_attest_roots": [.string(stores.appleRoot)],
                "certified_apps": [
                    .string("ios:\(DemoStores.team)"),
                    .string("android:\(DemoStores.package):\(DemoStores.fingerprint)"),
                    .string(OfficialApp.name),
                ],
            ],
            atFirst: [
                // A developer registers again and again.
                "rate_limits": [
                    "installation": ["source": .null, "target": .null],
                    "owner-mail": ["target": .null],
                    "certification": ["target": .null],
                    "owner-sign-in": ["source": .null, "target": .null],
                ]
            ])
        _ = try await ask(
            "setIntegrityKeys",
            [
                "realm": .string(Self.flagshipRealm), "jwks": stores.playKeys,
                "decryption_keys": [.string(stores.playDecryptionKey)],
            ])
    }

    /// The token of an owner who has not taken the realm over. Each run says it anew: it is kept nowhere.
    func prepareOwner() async throws -> String? {
        let realm: JSONObject = ["realm": .string(Self.flagshipRealm)]
        let known = try await ask("getOwner", realm, unless: "no-such-account")
        if known?["onboarded"] == true { return nil }
        var account = known?["account_id"]
        if account == nil {
            account = try await ask(
                "registerAccount",
                realm.merging([
                    "email": "owner@flagship.localhost", "first_name": "Camille",
                    "confirmed": true,
                ]) { own, _ in own }, unless: "account-exists")?["id"]
        }
        guard let account else { return nil }
        return try await ask(
            "appointOwner", realm.merging(["account_id": account]) { own, _ in own })?[
                "register_token"]?.string
    }
}
