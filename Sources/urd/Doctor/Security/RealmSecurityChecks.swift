import HTTP
import Identity
import JSON
import Values

/// What is chosen for a realm as a whole, or for its apps.
extension SecurityChecks {
    func issuer() -> Diagnosis {
        let check = "issuer"
        guard let address = realm.settings[SettingCatalogue.linksBaseURL] else {
            return .warning(
                check, "tokens name the assigned host that they were asked for at",
                mend: "Set links_base_url to the one https address that clients know.")
        }
        guard URLParts.parse(address)?.scheme == "https" else {
            return .warning(
                check, "\(address) is not https",
                mend: "Set links_base_url to an https address, unless this is a test.")
        }
        return .fine(check, address)
    }

    func lifetimes() -> Diagnosis {
        let check = "token lifetimes"
        var long: [String] = []
        var wrong = false
        for (name, settings) in realm.places {
            let lifetime = settings[SettingCatalogue.accessTokenLifetime]
            if lifetime > Self.hour { long.append("\(name)access tokens \(lifetime) s") }
            wrong = wrong || lifetime > Self.day
            let refresh = settings[SettingCatalogue.refreshTokenLifetime]
            if refresh > 90 * Self.day {
                long.append("\(name)refresh tokens wait \(refresh / Self.day) days")
            }
        }
        for client in realm.clients {
            guard let lifetime = client.metadata.accessTokenLifetime, lifetime > Self.hour else {
                continue
            }
            long.append("\(client.name): access tokens \(lifetime) s")
            wrong = wrong || lifetime > Self.day || client.metadata.accessTokenFormat == .jwt
        }
        guard !long.isEmpty else { return .fine(check, "an hour at most for access tokens") }
        let mend =
            "Set access_token_lifetime to 3600 or less, and refresh_token_lifetime to 90 days or "
            + "less; tokens in the format jwt stay valid to their end, even when the session is revoked."
        return wrong
            ? .wrong(check, Self.list(long), mend: mend)
            : .warning(check, Self.list(long), mend: mend)
    }

    func codes() -> Diagnosis {
        let check = "authorization codes"
        let lifetime = realm.settings[SettingCatalogue.codeLifetime]
        let what = "can be redeemed for \(lifetime) s"
        // Clients of a profile may count on more.
        let usual = realm.settings.defaults[SettingCatalogue.codeLifetime.name]?.integer ?? 60
        let mend = "Set code_lifetime to \(usual)."
        if lifetime > 300 { return .wrong(check, what, mend: mend) }
        return lifetime > usual ? .warning(check, what, mend: mend) : .fine(check, what)
    }

    func registration() -> Diagnosis {
        let check = "client registration"
        let open = realm.places.filter {
            $0.settings[SettingCatalogue.clientRegistration] == .open
        }
        guard open.isEmpty else {
            return .warning(
                check, "any caller may register clients",
                mend: "Set client_registration to initial_access_token or software_statement, "
                    + "unless strangers' apps are what this realm is for.")
        }
        return .fine(
            check, realm.settings[SettingCatalogue.clientRegistration].rawValue)
    }

    func assertionIssuers() -> Diagnosis {
        let setting = realm.settings[SettingCatalogue.assertionIssuers]
        let mailed = setting.keys.filter { TrustedIssuer($0, in: setting)?.subject == .email }
        return believed(
            "assertion issuers", setting,
            doubt: mailed.isEmpty ? nil : "names people by mail address: \(Self.list(mailed))",
            mend:
                "Each of them signs any user in whose address it likes to write: keep those alone "
                + "that own the domain, or have them name accounts.")
    }

    func statementIssuers() -> Diagnosis {
        believed(
            "statement issuers", realm.settings[SettingCatalogue.statementIssuers], doubt: nil,
            mend: "")
    }

    private func believed(
        _ check: String, _ setting: JSONObject, doubt: String?, mend: String
    ) -> Diagnosis {
        guard !setting.isEmpty else { return .fine(check, "no issuer is trusted") }
        if let doubt { return .warning(check, doubt, mend: mend) }
        return .fine(check, "believed: \(Self.list(Array(setting.keys)))")
    }

    func attestation() -> Diagnosis {
        let check = "attestation"
        let settings = realm.settings
        guard settings[SettingCatalogue.passkeyAttestation] == .direct else {
            return .fine(check, "not asked for: any authenticator will do")
        }
        guard !settings[SettingCatalogue.passkeyAttestationRoots].isEmpty else {
            return .warning(
                check, "asked for, and believed of any maker",
                mend: "Set passkey_attestation_roots, or passkey_attestation to none.")
        }
        return .fine(check, "asked for, and held against roots")
    }

    func passphrases() -> Diagnosis {
        let check = "passphrases"
        guard realm.places.contains(where: { $0.settings.offers(.passphrase) }) else {
            return .fine(check, "off")
        }
        guard installation.hasBreachedList else {
            return .warning(
                check, "may be those that others lost",
                mend: "Set breached-passphrases to a list of known ones.")
        }
        return .fine(check, "on, and held against a list of known ones")
    }

    func recentSignIn() -> Diagnosis {
        let check = "recent sign-in"
        let lax = realm.places.filter {
            let limit = $0.settings[SettingCatalogue.recentSignIn]
            return limit == 0 || limit > 7 * Self.day
        }
        guard lax.isEmpty else {
            return .warning(
                check, "an old session may change how its owner signs in",
                mend: "Set recent_sign_in to a day or less.")
        }
        return .fine(check, "\(realm.settings[SettingCatalogue.recentSignIn]) s")
    }

    func rates() -> Diagnosis {
        let check = "rates"
        let lifted = realm.settings[SettingCatalogue.rateLimits].flatMap { policy, dimensions in
            (dimensions.object ?? [:]).filter(\.value.isNull).map { "\(policy) by \($0.key)" }
        }
        guard lifted.isEmpty else {
            return .warning(
                check, "not limited: \(Self.list(lifted))",
                mend: "Take them out of rate_limits: the usual rates then hold.")
        }
        return .fine(check, "every one is limited")
    }

    func signingKeys() -> Diagnosis {
        let check = "signing keys"
        guard !realm.keys.isEmpty else {
            return .fine(check, "none yet: made with the first token")
        }
        let old = realm.keys.filter { now >= $0.since.adding(seconds: 365 * Self.day) }
        guard old.isEmpty else {
            return .warning(
                check, "older than a year: \(Self.list(old.map(\.algorithm)))",
                mend: "urd signing-key rotate --realm \(realm.realm)")
        }
        return .fine(check, Self.list(realm.keys.map(\.algorithm)))
    }
}
