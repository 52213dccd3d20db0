/// The pages of a realm: signing in, consent, and people's own accounts.
struct SiteSurface: RealmSurface {
    let routes = ProviderRoutes.table

    let pages: [Route<RealmContext>]

    /// - Parameter logos: of clients, as this node fetched them.
    init(_ logos: ClientLogos?) {
        pages =
            AssetRoutes.realmTable + LoginRoutes.table + PasskeyLoginRoutes.table + LinkRoutes.table
            + StepUpRoutes.table + LogoRoutes.table(logos) + LogoutRoutes.table
            + OverviewRoutes.table
            + SecurityRoutes.table + TOTPPageRoutes.table + RecoveryCodeRoutes.table
            + SessionPageRoutes.table + DataRoutes.table + AddressRoutes.table
            + RegisterRoutes.table
            + ConsentRoutes.table + DevicePageRoutes.table + PassphraseLogin.table
            + PassphraseRoutes.table + ResetRoutes.table + KeepRoutes.table
            + ProviderRoutes.pageTable
            + FormAddresses.table
    }
}
