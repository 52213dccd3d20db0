/// OAuth 2 and OpenID Connect: tokens, authorization, clients that register themselves, devices.
struct OAuthSurface: RealmSurface {
    /// The grants of the protocol itself.
    static func ownGrants() -> [GrantForm] {
        [
            .authorizationCode, .refresh, .clientCredentials, .device(DevicePolls()), .jwtBearer,
            .tokenExchange,
        ]
    }

    let routes: [Route<RealmContext>]
    let grants: [GrantForm]

    /// - Parameters:
    ///   - own: its own grants.
    ///   - grants: those, and what other surfaces bring to the token endpoint.
    init(_ own: [GrantForm], _ grants: GrantForms) {
        self.grants = own
        routes =
            TokenRoutes.table(grants) + UserInfoRoutes.table + MetadataRoutes.table(grants)
            + AppLinkRoutes.table + AppInfoRoutes.table(grants) + AuthorizeRoutes.table
            + PushedRequests.table + EndSessionRoutes.table + ClientRegistrationRoutes.table
            + DeviceRoutes.table + ChallengeRoutes.table
    }
}
