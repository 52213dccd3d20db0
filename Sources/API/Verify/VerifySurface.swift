internal import Identity

/// Tenants whose apps have mail addresses and phone numbers proved on a page of the realm: see decision 0133.
struct VerifySurface: RealmSurface {
    let routes =
        ExchangeRoutes.table + VerifyTokenRoutes.table + CustomClaimRoutes.table
        + TenantUserRoutes.table + FrameRoutes.table + TenantPasskeyRoutes.table
        + TenantMethodRoutes.table + TenantEventRoutes.table + PINResetRoutes.table
        + SocialRoutes.table + SocialConnectRoutes.table + FormScreeningRoutes.table
    let pages =
        HostedPageRoutes.table + LinkPageRoutes.table + FrameRoutes.pages + PasskeyFrame.pages
        + SocialRoutes.pages + SocialConnectRoutes.pages

    let mails = VerifyMails.rules

    func isServed(at place: Place) -> Bool {
        place.webApp == nil && place.settings.rules.servesTenants
    }
}
