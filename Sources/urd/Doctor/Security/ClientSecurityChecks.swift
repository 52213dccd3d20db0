import HTTP
import Identity
import JSON
import Values

/// What is chosen for the clients of a realm.
extension SecurityChecks {
    /// Those that were accepted once may break a rule that came later.
    func redirects() -> Diagnosis {
        let check = "redirect URIs"
        let anywhere = clients { client in
            client.metadata.rules.isTenant && client.metadata.redirectURIs.contains("*")
        }
        guard anywhere.isEmpty else {
            return .warning(
                check, "tenants that may have people sent anywhere: \(Self.list(anywhere))",
                mend: "List their origins and schemes in redirect_uris in the place of *.")
        }
        let unsafe = clients { client in
            !client.metadata.rules.isTenant
                && client.metadata.redirectURIs.contains { !RedirectRule.isSafe($0) }
        }
        guard unsafe.isEmpty else {
            return .wrong(
                check, "not exact, or readable on the way: \(Self.list(unsafe))",
                mend: "Give each an https address, a loopback address, or a scheme with a dot.")
        }
        let named = clients { client in
            client.metadata.redirectURIs.contains { URLParts.parse($0)?.host == "localhost" }
        }
        guard named.isEmpty else {
            return .warning(
                check, "at localhost, a name that may lead elsewhere: \(Self.list(named))",
                mend: "Use http://127.0.0.1 and http://[::1], at any port.")
        }
        return .fine(check, "compared exactly; http on the own machine alone")
    }

    func challenges() -> Diagnosis {
        let count = clients { $0.isPublic }.count
        return .fine(
            "PKCE", "\(count) public clients, each of which must use S256; others may")
    }

    func refreshing() -> Diagnosis {
        let check = "refresh tokens"
        let leeways = realm.places.map { $0.settings[SettingCatalogue.refreshTokenLeeway] }
        let leeway = leeways.max() ?? 0
        let unbound = clients {
            $0.isPublic && $0.isRefreshed && !$0.metadata.bindsTokens
                && $0.metadata.rules.refreshLeeway
        }
        let repeats = realm.places.filter { $0.settings[SettingCatalogue.refreshTokenLeeway] > 0 }
            .map { $0.settings[SettingCatalogue.refreshTokenLateRepeat] }
        let late = repeats.max() ?? 0
        var what = "rotate; the one before is good for \(leeway) s"
        if late > 0 { what += ", and for \(late) s while the next one is unused" }
        let mend = "Set refresh_token_leeway to 30 or less; 0 where clients never lose an answer."
        if leeway > 60, !unbound.isEmpty {
            return .wrong(check, "\(what), also of \(Self.list(unbound))", mend: mend)
        }
        return leeway > 30 ? .warning(check, what, mend: mend) : .fine(check, what)
    }

    func senderConstraints() -> Diagnosis {
        let bound = clients { $0.metadata.bindsTokens }.count
        return .fine(
            "bound tokens", "\(bound) of \(realm.clients.count) clients must prove a key (DPoP)")
    }

    func pushedRequests() -> Diagnosis {
        let pushing = clients { $0.metadata.needsPushedRequests }.count
        return .fine(
            "pushed requests", "\(pushing) of \(realm.clients.count) clients must push them")
    }

    func secrets() -> Diagnosis {
        let check = "client secrets"
        func older(_ days: Int64) -> [String] {
            clients { client in
                client.secretSince.map { now >= $0.adding(seconds: days * Self.day) } ?? false
            }
        }
        let mend = "urd client rotate-secret, or private_key_jwt, which has no secret to lose."
        if case let ancient = older(3 * 365), !ancient.isEmpty {
            return .wrong(check, "older than three years: \(Self.list(ancient))", mend: mend)
        }
        if case let old = older(365), !old.isEmpty {
            return .warning(check, "older than a year: \(Self.list(old))", mend: mend)
        }
        return .fine(check, "\(realm.clients.count { $0.secretSince != nil }), none of them old")
    }

    func clientKeys() -> Diagnosis {
        let check = "client keys"
        let weak = clients { client in
            (client.metadata.jwks?["keys"]?.array ?? []).contains(where: Self.isWeak)
        }
        guard weak.isEmpty else {
            return .wrong(
                check,
                "weaker than 2048 bits, or of a curve that is none of ours: "
                    + Self.list(weak), mend: "Register new keys: ES256, EdDSA, or RSA of 2048.")
        }
        return .fine(check, "none is weak")
    }

    static func isWeak(_ key: JSON) -> Bool {
        switch key["kty"]?.string {
        case "RSA":
            let modulus = key["n"]?.string.flatMap { Base64URL.decode($0) } ?? []
            return modulus.drop { $0 == 0 }.count < 256
        case "EC": return !["P-256", "P-384"].contains(key["crv"]?.string ?? "")
        case "OKP": return key["crv"]?.string != "Ed25519"
        default: return true
        }
    }

    func deviations() -> Diagnosis {
        let check = "deviations"
        let voo = clients { $0.metadata.rules.deviates && !$0.metadata.rules.isTenant }
        guard voo.isEmpty else {
            return .warning(
                check, "follow the profile voo and not the standard: \(Self.list(voo))",
                mend: "Give them the profile standard once their apps can do it.")
        }
        return .fine(check, "no client has any")
    }

    func assertionAudience() -> Diagnosis {
        let check = "client assertions"
        let mend =
            "Have clients name the issuer, and take client_assertion_for_token_url back: another "
            + "server could have them sign for it what is good here."
        if realm.settings[SettingCatalogue.assertionForTokenURL] {
            return .wrong(check, "may name the token endpoint, of any client", mend: mend)
        }
        let named = clients { $0.metadata.assertsForTokenURL }
        guard named.isEmpty else {
            return .warning(
                check, "may name the token endpoint: \(Self.list(named))", mend: mend)
        }
        return .fine(check, "must name the issuer")
    }

    func exchange() -> Diagnosis {
        let check = "token exchange"
        let strong = clients { $0.metadata.exchange == .impersonation }
        guard strong.isEmpty else {
            return .warning(
                check, "may act as any user, and no token says so: \(Self.list(strong))",
                mend: "Give them delegation where that is enough.")
        }
        let some = clients { $0.metadata.exchange == .delegation }
        return .fine(check, some.isEmpty ? "none" : "by delegation: \(Self.list(some))")
    }

    func introspection() -> Diagnosis {
        let check = "introspection"
        let all = clients { $0.metadata.introspectsAllTokens }
        guard all.count <= 3 else {
            return .warning(
                check, "of every token by \(Self.list(all))",
                mend: "Give each the audiences that it speaks for instead.")
        }
        return .fine(check, all.isEmpty ? "of one's own" : "of every token by \(Self.list(all))")
    }

    /// No rate by source holds a client that has their secrets.
    func forwarders() -> Diagnosis {
        let check = "forwarded addresses"
        let believed = clients { $0.metadata.forwardsAddresses }
        guard believed.isEmpty else {
            return .warning(
                check, "may say where people are who ask through them: \(Self.list(believed))",
                mend: "Leave forwards_addresses to servers of apps that ask for many people: with "
                    + "their secrets an attacker passes the rates by source.")
        }
        return .fine(check, "no client is believed")
    }

    /// Names of clients that were registered before such names were refused.
    func clientNames() -> Diagnosis {
        let check = "client ids"
        let doubtful = clients { !$0.isNameMade && SubjectForm.matches($0.name) }
        guard doubtful.isEmpty else {
            return .warning(
                check, "may be taken for people's `sub`: \(Self.list(doubtful))",
                mend:
                    "Register them anew under names of another form, or see that no resource server "
                    + "reads `sub` without `sub_profile`.")
        }
        return .fine(check, "none can be an account's")
    }

    func consent() -> Diagnosis {
        let silent = clients {
            $0.metadata.consent == .none && $0.metadata.grantTypes.contains(.authorizationCode)
        }
        return .fine(
            "consent",
            silent.isEmpty ? "asked for by all" : "not asked for by \(Self.list(silent))")
    }
}
