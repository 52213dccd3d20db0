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

    /// It has people's addresses proved on the page for tenants, and its redirect addresses are a list of
    /// places that this may lead to: see `TenantPlace`.
    public internal(set) var isTenant = false
    /// At the addresses for tenants its name is enough to redeem a code and to refresh, as its apps show no
    /// secret: a code is bound to a verifier, and a refresh token is good once.
    public internal(set) var redeemsByName = false
    /// People are asked before the client learns of them, if its metadata says so.
    public internal(set) var asksForConsent = true

    /// Its secret can be had again, because messages are signed by it (HS256).
    public internal(set) var hasSharedKey = false
    /// It is a version of the app whose devices sign people in.
    public internal(set) var isFederationApp = false
    /// It may show its secret in the body as well as in the header, if it is the same there.
    public internal(set) var repeatsSecret = false
    /// Its ID tokens say of the person what the scope allows, as user info does.
    public internal(set) var idTokenShowsPerson = false
    /// It takes assertions of devices.
    public internal(set) var isFederationService = false
    /// Seconds that its access tokens are valid, where nothing was said.
    public internal(set) var accessLifetime: Int64?

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

    static let verify: ClientRules = {
        var rules = ClientRules()
        rules.issuesWithoutOffline = true
        rules.looseChallenges = true
        rules.isTenant = true
        rules.redeemsByName = true
        rules.asksForConsent = false
        return rules
    }()

    static let federationApp: ClientRules = {
        var rules = ClientRules()
        rules.issuesWithoutOffline = true
        rules.hasSharedKey = true
        rules.isFederationApp = true
        rules.repeatsSecret = true
        rules.idTokenShowsPerson = true
        rules.asksForConsent = false
        return rules
    }()

    static let federationService: ClientRules = {
        var rules = ClientRules()
        rules.issuesWithoutOffline = true
        rules.hasSharedKey = true
        rules.isFederationService = true
        rules.repeatsSecret = true
        rules.idTokenShowsPerson = true
        rules.asksForConsent = false
        rules.accessLifetime = 86_000
        return rules
    }()

    /// Whether it departs from the standards anywhere.
    public var deviates: Bool { self != .standard }
}

extension ClientProfile {
    var rules: ClientRules {
        switch self {
        case .standard: .standard
        case .voo: .voo
        case .verify: .verify
        case .federationApp: .federationApp
        case .federationService: .federationService
        }
    }

    /// The grants of a client that names none.
    var usualGrants: [GrantType] {
        switch self {
        case .standard, .voo: [.authorizationCode]
        // A tenant's apps refresh their tokens, so that the client needs both grants.
        case .verify: [.authorizationCode, .refreshToken]
        case .federationApp: [.jwtBearer, .password, .refreshToken]
        case .federationService: [.jwtBearer, .refreshToken]
        }
    }
}

extension ClientMetadata.Members {
    public var rules: ClientRules { profile.rules }

    /// Whether people are asked before the client learns of them.
    public var asksForConsent: Bool { consent == .needed && rules.asksForConsent }
}
