import Values

/// Holds what was chosen for a realm against RFC 9700 and its kin. What the server does in any case is not
/// looked at: that every code is bound, used once, and sent to a registered place alone is for tests to show.
struct SecurityChecks: Sendable {
    let realm: RealmPosture
    let installation: InstallationPosture
    let now: Timestamp

    static let hour: Int64 = 3_600
    static let day: Int64 = 86_400

    func all() -> [Diagnosis] {
        let own: [Diagnosis] = [
            issuer(), redirects(), challenges(), refreshing(), lifetimes(), codes(),
            registration(), senderConstraints(), pushedRequests(), secrets(), clientKeys(),
            signingKeys(), deviations(), assertionAudience(), assertionIssuers(),
            statementIssuers(), attestation(), appAttest(), safetyNet(), exposedPasskeys(),
            disclosedKeys(), deriveKeys(),
            passphrases(), recentSignIn(), rates(), exchange(), introspection(), forwarders(),
            consent(), clientNames(), publishedClients(),
        ]
        return own.map { one in
            var one = one
            one.realm = realm.realm
            return one
        }
    }

    /// What holds for every realm alike.
    static func ofInstallation(_ posture: InstallationPosture) -> [Diagnosis] {
        [mail(posture), cookies(posture)]
    }

    static func mail(_ posture: InstallationPosture) -> Diagnosis {
        let check = "mail"
        guard posture.smtpHost != nil else {
            return .warning(
                check, "there is no mail server: no code and no warning is sent",
                mend: "Set smtp-host.")
        }
        guard posture.smtpSecurity != "none" else {
            return .wrong(
                check, "codes that sign people in go to the mail server unencrypted",
                mend: "Set smtp-security to starttls or tls.")
        }
        return .fine(check, "goes out by \(posture.smtpSecurity)")
    }

    static func cookies(_ posture: InstallationPosture) -> Diagnosis {
        let check = "cookies"
        let bare = posture.cookies.filter { !$0.hasPrefix("__Host-") }
        guard bare.isEmpty, !posture.cookies.isEmpty else {
            return .wrong(
                check, "without the prefix __Host-: \(list(bare))",
                mend: "This binary was changed: take one that was not.")
        }
        return .fine(check, "each has the prefix __Host-")
    }

    /// Names, so many that a line bears them.
    static func list(_ names: [String]) -> String {
        let shown = names.sorted().prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }

    func clients(where matches: (RealmPosture.Client) -> Bool) -> [String] {
        realm.clients.filter(matches).map(\.name)
    }
}
