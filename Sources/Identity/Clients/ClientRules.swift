/// What a client's profile changes, by name: a profile is one value here, and nothing else asks which it is.
public struct ClientRules: Sendable, Equatable {
    /// Refresh tokens are given without `offline_access`.
    public internal(set) var issuesWithoutOffline = false
    /// A refresh token that was used may be shown again for a while, because its answer was lost.
    public internal(set) var refreshLeeway = true
    /// Redirect addresses of any form are taken at the registration.
    public internal(set) var lenientRedirects = false
    /// Where there is only one redirect address, requests leave it out.
    public internal(set) var impliesOnlyRedirect = false
    /// The verifier goes by the name `verifier` too, `S256` is spelled with a small letter too, and what a
    /// verifier is made of is not looked at.
    public internal(set) var looseChallenges = false
    /// Introspection names the person as other systems know them.
    public internal(set) var namesBusinessPartner = false
    /// Its apps have addresses of their own for signing in, and a guard that names the login page.
    public internal(set) var hasLoginGuard = false

    static let standard = ClientRules()

    static let voo: ClientRules = {
        var rules = ClientRules()
        rules.issuesWithoutOffline = true
        rules.refreshLeeway = false
        rules.lenientRedirects = true
        rules.impliesOnlyRedirect = true
        rules.looseChallenges = true
        rules.namesBusinessPartner = true
        rules.hasLoginGuard = true
        return rules
    }()

    /// Whether it departs from the standards anywhere.
    public var deviates: Bool { self != .standard }
}

extension ClientMetadata.Members {
    public var rules: ClientRules {
        switch profile {
        case .standard: .standard
        case .voo: .voo
        }
    }
}
