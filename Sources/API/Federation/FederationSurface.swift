internal import Identity

/// Devices that show people to services by assertions, and the services' token endpoints: see decision 0134.
struct FederationSurface: RealmSurface {
    let routes =
        DeviceTokenRoutes.table + ServiceTokenRoutes.table + AssertionRoutes.table
        + ProfileRoutes.table + FederationRevocationRoutes.table + FederatedDeviceRoutes.table
        + FederatedAppRoutes.table + ServiceStandingRoutes.table + DiscoveryRoutes.table
        + ProbeRoutes.table

    let grants = [GrantForm.samlBearer]

    let mails = FederationMails.rules

    func isServed(at place: Place) -> Bool {
        place.webApp == nil && place.settings.rules.servesFederation
    }
}
