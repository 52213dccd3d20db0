internal import Identity

/// Devices that show people to services by assertions, and the services' token endpoints: see decision 0134.
struct FederationSurface: RealmSurface {
    let routes: [Route<RealmContext>]

    init(_ registry: ServiceRegistry?) {
        routes =
            DeviceTokenRoutes.table + ServiceTokenRoutes.table + AssertionRoutes.table(registry)
            + ProfileRoutes.table + FederationRevocationRoutes.table + FederatedDeviceRoutes.table
            + FederatedAppRoutes.table(registry) + ServiceStandingRoutes.table
            + DiscoveryRoutes.table(registry)
            + ProbeRoutes.table
    }

    let grants = [GrantForm.samlBearer]

    let mails = FederationMails.rules

    func isServed(at place: Place) -> Bool {
        place.webApp == nil && place.settings.rules.servesFederation
    }
}
