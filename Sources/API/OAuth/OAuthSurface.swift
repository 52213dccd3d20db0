/// OAuth 2 and OpenID Connect: tokens, authorization, clients that register themselves, devices.
struct OAuthSurface: RealmSurface {
    static let ownGrants: [GrantForm] = [
        .authorizationCode, .refresh, .clientCredentials, .device, .jwtBearer, .tokenExchange,
    ]

    let routes: [Route<RealmContext>]
    let grants = Self.ownGrants

    /// - Parameter grants: its own, and those that other surfaces bring to the token endpoint.
    init(_ grants: GrantForms) {
        routes =
            TokenRoutes.table(grants) + UserInfoRoutes.table + MetadataRoutes.table(grants)
            + AppLinkRoutes.table + AppInfoRoutes.table(grants) + AuthorizeRoutes.table
            + PushedRequests.table + EndSessionRoutes.table + ClientRegistrationRoutes.table
            + DeviceRoutes.table + ChallengeRoutes.table
    }
}
