internal import JSON

/// The public listener: the tables of its routes, and the document that is made from them.
public enum API {
    /// The admin API, and what everybody may see.
    public static let table: [Route<AdminContext>] =
        PublicRoutes.table + RealmRoutes.table + HostRoutes.table + AppRoutes.table
        + ClientRoutes.table + AccountRoutes.table + AccountDeletionRoutes.table
        + AccountSessionRoutes.table + LoginHistoryRoutes.table + MailRoutes.table
        + TwoFactorRoutes.table + RoleRoutes.table + InviteRoutes.table
        + RegistrationTokenRoutes.table
        + SubjectRoutes.table + AdminKeyRoutes.table
        + EventRoutes.table
        + LogRoutes.table + SigningKeyRoutes.table + OwnerAdminRoutes.table + WebAppRoutes.table
        + DeviceHistoryRoutes.table
        + PushProviderRoutes.table + NotificationAdminRoutes.table
        + ProviderAdminRoutes.table

    /// What the host's realm answers: signing in, and tokens.
    public static let realmTable: [Route<RealmContext>] =
        NativeRoutes.table + MagicLinkRoutes.table + MagicLoginRoutes.table + TOTPRoutes.table
        + InviteCodeRoutes.table
        + TokenRoutes.table + UserInfoRoutes.table + PasskeyRoutes.table + PasskeyListRoutes.table
        + MetadataRoutes.table + AppInfoRoutes.table + AppLinkRoutes.table
        + OwnAccountRoutes.table + AuthorizeRoutes.table + PushedRequests.table
        + EndSessionRoutes.table + VooRoutes.table
        + ClientRegistrationRoutes.table + DeviceRoutes.table + ChallengeRoutes.table
        + ProviderRoutes.table

    /// What realms of the flagship profile answer beside that, and no others.
    public static let flagshipTable: [Route<RealmContext>] =
        InstallationRoutes.table + AttestationRoutes.table + OwnerRoutes.table
        + InstallationTokenRoutes.table + SessionCodeRoutes.table + OwnerSettingsRoutes.table
        + OwnerClientRoutes.table + OpenAppRoutes.table + NotificationRoutes.table
        + OwnerLinkRoutes.table + OwnerProviderRoutes.table + OwnerSessionRoutes.table
        + OwnerEmailRoutes.table + InstanceRoutes.table

    /// Pages of such realms.
    public static let flagshipPageTable: [Route<RealmContext>] =
        InstallationAuthorizeRoutes.table + ConnectionRoutes.table + WebAppPageRoutes.table
        + DevicePages.table + OwnerLinkRoutes.pageTable + OwnerResetRoutes.pageTable
        + OnboardingRoutes.pageTable + OwnerScript.table + OwnerProviderRoutes.pageTable
        + OwnerLoginRoutes.pageTable + OwnerSessionRoutes.pageTable
        + OwnerEmailRoutes.pageTable + FormAddresses.flagshipTable

    /// What is at the place of a web app.
    public static let webAppTable: [Route<RealmContext>] = WebAppPageRoutes.placeTable

    /// What a browser shows. These are for people, and stand in no description for programs.
    public static let pageTable: [Route<RealmContext>] =
        AssetRoutes.table + LoginRoutes.table + PasskeyLoginRoutes.table + LinkRoutes.table
        + StepUpRoutes.table + LogoRoutes.table
        + LogoutRoutes.table + OverviewRoutes.table + SecurityRoutes.table + TOTPPageRoutes.table
        + RecoveryCodeRoutes.table
        + SessionPageRoutes.table + DataRoutes.table + AddressRoutes.table + RegisterRoutes.table
        + ConsentRoutes.table + DevicePageRoutes.table
        + PassphraseLogin.table + PassphraseRoutes.table + ResetRoutes.table
        + KeepRoutes.table
        + ProviderRoutes.pageTable + FormAddresses.table

    /// The names of all cookies that it sets.
    public static let cookies = PageCookie.allCases.map(\.rawValue)

    /// Every route of every table.
    static let outlines: [Outline] =
        table.map(\.outline) + realmTable.map(\.outline)
        + flagshipTable.map(\.outline)

    /// The bytes of `/openapi.json`.
    public static let document: [UInt8] = OpenAPI.document(
        of: outlines, title: "Urd", version: "0.1.0",
        description: """
            An identity backend in which the log is the state. Bodies are JSON and refusals are \
            problems (RFC 9457), but for what follows OAuth 2 or serves native apps, as is said \
            there. Members and parameters that are not described here are refused where nothing \
            else is said. A key that has no right to a realm gets 403 whether the realm exists or \
            not.
            """
    ).canonical()
}
