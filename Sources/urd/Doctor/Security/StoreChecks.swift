import Identity
import Values

/// Whose word on apps and keys is taken, and what was stored of keys that should not have been.
extension SecurityChecks {
    private var isFlagship: Bool { realm.settings.rules.hasOwner }

    func appAttest() -> Diagnosis {
        let check = "App Attest"
        guard isFlagship else { return .fine(check, "not of the flagship profile") }
        guard realm.settings[SettingCatalogue.appAttestEnvironment] == .production else {
            return .wrong(
                check,
                "keys of development builds are believed, and those of the App Store are not",
                mend: "Set app_attest_environment to production, unless this is a test.")
        }
        let roots = realm.settings[SettingCatalogue.appAttestRoots]
        guard roots.isEmpty else {
            return .warning(
                check,
                "believed of \(roots.count) roots of your own, in the place of Apple's",
                mend: "Unset app_attest_roots: Apple's own root then counts, and no other.")
        }
        return .fine(check, "production, under Apple's root")
    }

    /// What is taken from clients as they are published, in realms of the profiles that they are of.
    func publishedClients() -> Diagnosis {
        let check = "published clients"
        let settings = realm.settings
        var taken: [String] = []
        if settings.rules.servesFederation {
            if settings[SettingCatalogue.untimedRequests] != .refused {
                taken.append(
                    "JWTs without a time (\(SettingCatalogue.untimedRequests.name))")
            }
            if settings[SettingCatalogue.unsignedDiscovery] {
                taken.append(
                    "questions for services without a token (\(SettingCatalogue.unsignedDiscovery.name))"
                )
            }
        }
        if settings.rules.servesTenants {
            if settings[SettingCatalogue.tokensUnasked] {
                taken.append(
                    "tokens that no app asked for (\(SettingCatalogue.tokensUnasked.name))")
            }
            if settings[SettingCatalogue.shortEventNumbers] {
                taken.append(
                    "numbers of events that may be guessed (\(SettingCatalogue.shortEventNumbers.name))"
                )
            }
        }
        guard !taken.isEmpty else { return .fine(check, "nothing is made easier for them") }
        return .warning(
            check, "made easier: \(Self.list(taken))",
            mend: "Unset what none of the realm's clients needs.")
    }

    func safetyNet() -> Diagnosis {
        let check = "SafetyNet"
        guard isFlagship, realm.settings[SettingCatalogue.safetyNet] else {
            return .fine(check, "off")
        }
        let demands = realm.settings[SettingCatalogue.safetyNetDemands]
        let what =
            demands.contains(SafetyNetDemand.profileMatch.rawValue)
            ? "on, though Google no longer gives such verdicts"
            : "on, for devices too that pass no compatibility test"
        return .warning(
            check, what, mend: "Set safety_net to false: apps use Play Integrity since 2024.")
    }

    func deriveKeys() -> Diagnosis {
        let check = "derive key"
        guard let days = realm.deriveKeyOverlap else { return .fine(check, "one") }
        let what = "a new one for \(days) days, and an older one is still accepted"
        guard days >= 90 else { return .fine(check, what) }
        return .warning(
            check, what,
            mend: "End what still follows from it: urd keys retire-derive --realm \(realm.realm)")
    }

    func disclosedKeys() -> Diagnosis {
        let check = "private keys"
        let (held, recorded) = (realm.disclosedKeys.inForce, realm.disclosedKeys.onRecord)
        let burnt = "Take the key for burnt, and make a new one where it is used."
        guard held.isEmpty else {
            return .wrong(
                check, "readable in the log: \(Self.list(held + recorded))",
                mend: "\(burnt) Then set the certificate or the public key in its place.")
        }
        guard recorded.isEmpty else {
            return .warning(
                check, "still readable in the log: \(Self.list(recorded))",
                mend: "\(burnt) The log keeps what it has.")
        }
        return .fine(check, "none is readable in the log")
    }

    func exposedPasskeys() -> Diagnosis {
        let check = "passkeys' private keys"
        guard realm.exposedPasskeys.isEmpty else {
            return .wrong(
                check,
                "stored with the public ones, readable in the log: \(Self.list(realm.exposedPasskeys))",
                mend:
                    "They cannot be used to sign in. Have these accounts remove them and make new ones."
            )
        }
        return .fine(check, "none is stored")
    }
}
