internal import Identity

extension SessionTerms {
    /// How strong the sign-in was: a passkey is what somebody has and, since it is asked to verify
    /// its user, what he knows or is.
    var authenticationContext: String? {
        // Where nothing was shown to us nobody knows.
        guard account != nil, !factors.isEmpty else { return nil }
        return isStrong ? "urn:modgud:acr:multi" : "urn:modgud:acr:single"
    }

    /// What was shown, in the words of RFC 8176.
    var authenticationMethods: [String] {
        var methods = factors.map(\.rawValue)
        if factors.contains(.passkey) { methods.append("user") }
        if isStrong { methods.append("mfa") }
        var seen: Set<String> = []
        return methods.filter { seen.insert($0).inserted }
    }

    private var isStrong: Bool { factors.contains(.passkey) || Set(factors).count > 1 }
}
