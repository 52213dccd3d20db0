internal import Cryptography
internal import Identity
internal import JOSE
internal import JSON
internal import SecurityKeys
internal import Values

/// What came of a store's word: for the log, and for the app that showed it.
struct StoreProof: Sendable {
    let proof: CertifyInstallation.Proof
    /// One of a few texts: the sender learns roughly what was wrong, and nothing of how it was
    /// found.
    let said: String

    static func refused(_ reason: String, _ said: String) -> StoreProof {
        StoreProof(proof: .refused(reason: reason), said: said)
    }

    static func verified(
        _ certification: Certification, app: String, key: AttestedKey? = nil
    ) -> StoreProof {
        StoreProof(proof: .verified(certification, app: app, key: key), said: "")
    }
}

extension Call<RealmContext> {
    /// Verifies what the body shows for a challenge.
    func storeProof(_ challenge: String) async throws(Problem) -> StoreProof {
        let text = body["attestation"]?.string ?? ""
        switch body["platform"]?.string {
        case "ios": return appAttest(text, challenge)
        case "android":
            guard body["issuer"]?.string == "playintegrity" else {
                return safetyNet(text, challenge)
            }
            return try await playIntegrity(text, challenge)
        default: return .refused("platform", "invalid platform")
        }
    }

    private func appAttest(_ text: String, _ challenge: String) -> StoreProof {
        let settings = context.place.settings
        var roots = settings[SettingCatalogue.appAttestRoots].compactMap { text in
            CertificateText.der(text).flatMap { try? Certificate(der: $0) }
        }
        if roots.isEmpty { roots = [AppAttest.appleRoot].compactMap { $0 } }
        let apps = settings.storeApps.compactMap { app -> String? in
            if case .apple(let id) = app { id } else { nil }
        }
        let environment: AppAttest.Environment =
            switch settings[SettingCatalogue.appAttestEnvironment] {
            case .production: .production
            case .development: .development
            }
        guard let object = Base64.decode(text),
            let keyID = body["keyId"]?.string.flatMap({ Base64.decode($0) })
        else { return .refused(AppAttest.Flaw.object.rawValue, "invalid attestation") }
        do throws(AppAttest.Flaw) {
            let attested = try AppAttest.verify(
                attestation: object, keyID: keyID, challenge: Array(challenge.utf8),
                rules: AppAttest.Rules(apps: apps, roots: roots, environment: environment),
                at: context.clock.now())
            return .verified(
                .appAttest, app: attested.app,
                key: AttestedKey(
                    id: attested.keyID, publicKey: attested.publicKey, app: attested.app))
        } catch {
            return .refused(error.rawValue, error.said)
        }
    }

    /// Google no longer issues SafetyNet verdicts: they are rejected unless the realm accepts them.
    private func safetyNet(_ text: String, _ challenge: String) -> StoreProof {
        let settings = context.place.settings
        guard settings[SettingCatalogue.safetyNet] else {
            return .refused("safety_net", "invalid attestation")
        }
        let roots = settings[SettingCatalogue.safetyNetRoots].compactMap { text in
            CertificateText.der(text).flatMap { try? Certificate(der: $0) }
        }
        do throws(SafetyNet.Flaw) {
            let package = try SafetyNet.verify(
                text, nonce: Array(challenge.utf8),
                rules: SafetyNet.Rules(
                    apps: settings.androidApps, roots: roots,
                    longestAge: settings[SettingCatalogue.attestationAge],
                    demandsProfileMatch: settings[SettingCatalogue.safetyNetDemands]
                        .contains(SafetyNetDemand.profileMatch.rawValue)),
                at: context.clock.now())
            return .verified(.safetyNet, app: package)
        } catch {
            return .refused(error.rawValue, error.said)
        }
    }

    private func playIntegrity(
        _ text: String, _ challenge: String
    ) async throws(Problem) -> StoreProof {
        let settings = context.place.settings
        var flaw: PlayIntegrity.Flaw?
        for keys in try await integrityKeys() {
            let rules = PlayIntegrity.Rules(
                apps: settings.androidApps, decryptionKeys: keys.decryption,
                verificationKeys: keys.verification,
                longestAge: settings[SettingCatalogue.attestationAge],
                demands: Set(settings[SettingCatalogue.integrityDemands]))
            do throws(PlayIntegrity.Flaw) {
                let package = try PlayIntegrity.verify(
                    text, nonce: challenge, rules: rules, at: context.clock.now())
                return .verified(.playIntegrity, app: package)
            } catch {
                // Other keys may read what these do not; told is what those found that came farthest.
                guard error.isOfKeys else { return .refused(error.rawValue, error.said) }
                if flaw == nil || error == .signature { flaw = error }
            }
        }
        guard let flaw else { return .refused("no_keys", "invalid attestation") }
        return .refused(flaw.rawValue, flaw.said)
    }

    private typealias Keys = (verification: KeySet, decryption: [SecretBytes])

    /// The realm's own, and behind them those of the app's makers where their app is trusted. They are asked one
    /// after the other, as a verdict names no key and of two that could have signed it none is believed.
    private func integrityKeys() async throws(Problem) -> [Keys] {
        let own = try await RealmLookups(context).folded(IntegrityKeys.self, IntegrityKeys.stream)
        var found = [(own.verification, own.decryption)]
        if context.place.settings[SettingCatalogue.certifiedApps].contains(OfficialApp.name) {
            found.append(
                (["keys": [OfficialApp.verificationKey]], [OfficialApp.decryptionKey]))
        }
        return found.compactMap { verification, decryption in
            guard let verification = try? KeySet(jwks: verification) else { return nil }
            return (
                verification, decryption.compactMap { Base64URL.decode($0).map { SecretBytes($0) } }
            )
        }
    }
}

extension Settings {
    /// Packages, each with the SHA-256 of the certificates that it may be signed with.
    fileprivate var androidApps: [String: Set<[UInt8]>] {
        var apps: [String: Set<[UInt8]>] = [:]
        for case .android(let package, let fingerprint) in storeApps {
            if let digest = Hex.decode(fingerprint.lowercased()) {
                apps[package, default: []].insert(digest)
            }
        }
        return apps
    }

    /// The apps that a store may vouch for.
    fileprivate var storeApps: [NativeApp] {
        let named = self[SettingCatalogue.certifiedApps]
        guard named.isEmpty else { return named.flatMap { NativeApp.certified($0) } }
        return self[SettingCatalogue.nativeApps].compactMap { NativeApp($0) }
    }
}

extension AppAttest.Flaw {
    fileprivate var said: String {
        switch self {
        case .nonce: "invalid nonce"
        case .app: "invalid app id"
        case .keyName, .key, .keyID, .credentialID: "invalid key id"
        case .object, .format, .receipt, .certificates, .chainOutOfDate, .chainBroken,
            .chainUntrusted, .authenticatorData, .counter, .environment, .signature:
            "invalid attestation"
        }
    }
}

extension PlayIntegrity.Flaw {
    /// Whether it was not read, or not signed, by the keys that it was held against.
    fileprivate var isOfKeys: Bool {
        switch self {
        case .encryption, .signature: true
        case .nonce, .package, .digest, .payload, .age, .recognition, .device, .license: false
        }
    }

    fileprivate var said: String {
        switch self {
        case .nonce: "invalid nonce"
        case .package: "invalid package name"
        case .digest: "invalid certificate digest"
        case .encryption, .signature, .payload, .age, .recognition, .device, .license:
            "invalid attestation"
        }
    }
}

extension SafetyNet.Flaw {
    fileprivate var said: String {
        switch self {
        case .nonce: "invalid nonce"
        case .package: "invalid package name"
        case .digest: "invalid certificate digest"
        case .message, .certificates, .chain, .host, .signature, .payload, .age, .device,
            .profile:
            "invalid attestation"
        }
    }
}
