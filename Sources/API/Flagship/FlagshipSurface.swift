internal import Identity

/// Realms of the flagship profile: an owner, and the installations of the one app that may have everything.
struct FlagshipSurface: RealmSurface {
    let routes =
        InstallationRoutes.table + AttestationRoutes.table + OwnerRoutes.table
        + InstallationTokenRoutes.table + SessionCodeRoutes.table + OwnerSettingsRoutes.table
        + OwnerClientRoutes.table + OpenAppRoutes.table + NotificationRoutes.table
        + OwnerLinkRoutes.table + OwnerProviderRoutes.table + OwnerSessionRoutes.table
        + OwnerEmailRoutes.table + InstanceRoutes.table

    let pages =
        InstallationAuthorizeRoutes.table + ConnectionRoutes.table + WebAppPageRoutes.table
        + DevicePages.table + OwnerLinkRoutes.pageTable + OwnerResetRoutes.pageTable
        + OnboardingRoutes.pageTable + OwnerScript.table + OwnerProviderRoutes.pageTable
        + OwnerLoginRoutes.pageTable + OwnerSessionRoutes.pageTable + OwnerEmailRoutes.pageTable
        + OwnerFormAddresses.table

    let mails = OwnerMails.rules

    func isServed(at place: Place) -> Bool { place.webApp == nil && place.settings.rules.hasOwner }
}

/// What is at the place of a web app.
struct WebAppSurface: RealmSurface {
    let pages = WebAppPageRoutes.placeTable

    func isServed(at place: Place) -> Bool { place.webApp != nil }
}
