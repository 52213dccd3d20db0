internal import Identity

/// How strong a sign-in was.
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
        var seen: Set<String> = []
        return methods.filter { seen.insert($0).inserted }
    }

    private var isStrong: Bool { factors.areStrong }
}

extension SessionTerms {
    var authenticationContext: String? {
        // Where nothing was shown to us nobody knows.
        account == nil || factors.isEmpty ? nil : SignInStrength(factors).context
    }

    var authenticationMethods: [String] { SignInStrength(factors).methods }
}
