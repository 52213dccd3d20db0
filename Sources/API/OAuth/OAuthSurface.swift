/// OAuth 2 and OpenID Connect: tokens, authorization, clients that register themselves, devices.
struct OAuthSurface: RealmSurface {
    let routes =
        TokenRoutes.table + UserInfoRoutes.table + MetadataRoutes.table + AppLinkRoutes.table
        + AppInfoRoutes.table + AuthorizeRoutes.table + PushedRequests.table
        + EndSessionRoutes.table + ClientRegistrationRoutes.table + DeviceRoutes.table
        + ChallengeRoutes.table
}
