public import EventSourcing

/// Every shape of every event that the log may hold.
public enum EventCatalogue {
    public static let all: [EventShape] =
        RealmEvent.catalogue + LogEvent.catalogue + HostEvent.catalogue + AppEvent.catalogue
        + ClientEvent.catalogue
        + AdminKeyEvent.catalogue + AdminRefusalEvent.catalogue + AccountEvent.catalogue
        + MailboxEvent.catalogue
        + SessionEvent.catalogue + MailEvent.catalogue + DisclosureEvent.catalogue
        + CaseFileEvent.catalogue
        + SigningKeyEvent.catalogue
        + PasskeyEvent.catalogue + TwoFactorEvent.catalogue + InviteEvent.catalogue
        + ConsentEvent.catalogue + PushedRequestEvent.catalogue
        + LogoutNoticeEvent.catalogue
        + BrowserSessionEvent.catalogue
        + RegistrationTokenEvent.catalogue + DeviceEvent.catalogue
        + PassphraseEvent.catalogue + OwnerEvent.catalogue + AttestationEvent.catalogue
        + AppKeyEvent.catalogue + IntegrityKeysEvent.catalogue + SessionCodeEvent.catalogue
        + MailedCodeEvent.catalogue + MailedLinkEvent.catalogue
        + ProviderEvent.catalogue + ProviderIdentityEvent.catalogue + AccountIdentityEvent.catalogue
        + UpstreamSessionEvent.catalogue + DelegatedCodeEvent.catalogue
        + InstallationUpstreamEvent.catalogue
        + WebAppEvent.catalogue + ConnectionEvent.catalogue
        + InstallationUseEvent.catalogue
        + NotificationEvent.catalogue + NotificationSourceEvent.catalogue
        + PushProviderEvent.catalogue + MessageGatewayEvent.catalogue + SubscriptionEvent.catalogue
        + SignalStreamEvent.catalogue + TokenClaimsEvent.catalogue
        + TenantNameEvent.catalogue
        + CaptchaEvent.catalogue + TenantMethodEvent.catalogue + ApprovalEvent.catalogue
        + FederatedDeviceEvent.catalogue + DeviceUseEvent.catalogue
        + FederatedAssertionEvent.catalogue + ServiceStandingEvent.catalogue
        + FindingEvent.catalogue + FindingRulesEvent.catalogue

    /// Of each type the shape that is written today, in the order of their names.
    public static let newest: [EventShape] =
        all.filter { $0.upcast == nil }.sorted { $0.name < $1.name }

    /// What every request looks at, so that nodes keep it: see `Projections/configurations.sql`.
    public static func isConfiguration(_ name: String) -> Bool {
        configurationStreams.contains { name.utf8.starts(with: $0.utf8) }
            && !ofOneDevice.contains(name)
    }

    private static let ofOneDevice: Set<String> = [
        "realm.subject_erased", "client.adopted", "client.certified",
        "client.certification_revoked",
    ]

    private static let configurationStreams = [
        "realm.", "host.", "app.", "client.", "signing_key.", "web_app.",
        "subscription.", "provider.",
    ]
}
