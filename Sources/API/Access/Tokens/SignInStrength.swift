internal import Identity

/// The strength of a sign-in: authentication methods and level.
struct SignInStrength {
    private let factors: [AuthenticationFactor]

    init(_ factors: [AuthenticationFactor]) {
        self.factors = factors
    }

    var context: String { isStrong ? AuthenticationLevel.multiple : AuthenticationLevel.single }

    /// What was shown, in the words of RFC 8176.
    var methods: [String] {
        var methods = factors.map(\.rawValue)
        if factors.contains(.passkey) { methods.append("user") }
        if isStrong { methods.append("mfa") }
        // There are few, and a list of few is faster than any set.
        var told: [String] = []
        for method in methods where !told.contains(method) { told.append(method) }
        return told
    }

    private var isStrong: Bool { factors.areStrong }
}

extension SessionTerms {
    var authenticationContext: String? {
        // Unknown where no factor was shown to us.
        self.account == nil || self.factors.isEmpty ? nil : SignInStrength(self.factors).context
    }

    var authenticationMethods: [String] { SignInStrength(self.factors).methods }
}
