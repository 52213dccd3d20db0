/// The admin API.
struct AdminSurface: Surface {
    let routes =
        RealmRoutes.table + HostRoutes.table + AppRoutes.table + ClientRoutes.table
        + AccountRoutes.table + AccountImportRoutes.table + AccountDeletionRoutes.table
        + AccountSessionRoutes.table
        + AccountDeviceRoutes.table
        + LoginHistoryRoutes.table + MailRoutes.table + TwoFactorRoutes.table + RoleRoutes.table
        + InviteRoutes.table + RegistrationTokenRoutes.table + SubjectRoutes.table
        + AdminKeyRoutes.table + EventRoutes.table + LogRoutes.table + SigningKeyRoutes.table
        + OwnerAdminRoutes.table + WebAppRoutes.table + DeviceHistoryRoutes.table
        + PushProviderRoutes.table + MessageGatewayRoutes.table + CaptchaRoutes.table
        + NotificationAdminRoutes.table
        + ProviderAdminRoutes.table + AsOfRoutes.table + AsOfDiffRoutes.table
        + AsOfRoleRoutes.table + FindingRoutes.table + FindingRuleRoutes.table
}
