public import EventSourcing

/// Every shape of every event that the log may hold.
public enum EventCatalogue {
    private static let kinds: [any FormedEvent<EventMeaning>.Type] = [
        RealmEvent.self, LogEvent.self, HostEvent.self, AppEvent.self, ClientEvent.self,
        AdminKeyEvent.self, AdminRefusalEvent.self, AccountEvent.self, MailboxEvent.self,
        SessionEvent.self, MailEvent.self, DisclosureEvent.self, CaseFileEvent.self,
        SigningKeyEvent.self, PasskeyEvent.self, TwoFactorEvent.self, InviteEvent.self,
        ConsentEvent.self, PushedRequestEvent.self, LogoutNoticeEvent.self,
        BrowserSessionEvent.self, RegistrationTokenEvent.self, DeviceEvent.self,
        PassphraseEvent.self, OwnerEvent.self, AttestationEvent.self, AppKeyEvent.self,
        IntegrityKeysEvent.self, SessionCodeEvent.self, MailedCodeEvent.self, MailedLinkEvent.self,
        ProviderEvent.self, ProviderIdentityEvent.self, AccountIdentityEvent.self,
        UpstreamSessionEvent.self, DelegatedCodeEvent.self, InstallationUpstreamEvent.self,
        WebAppEvent.self, ConnectionEvent.self, InstallationUseEvent.self, NotificationEvent.self,
        NotificationSourceEvent.self, PushProviderEvent.self, MessageGatewayEvent.self,
        SubscriptionEvent.self, SignalStreamEvent.self, TokenClaimsEvent.self, TenantNameEvent.self,
        CaptchaEvent.self, TenantMethodEvent.self, ApprovalEvent.self, FederatedDeviceEvent.self,
        DeviceUseEvent.self, FederatedAssertionEvent.self, ServiceStandingEvent.self,
        FindingEvent.self, FindingRulesEvent.self, ConfigurationEvent.self,
    ]

    public static let all: [EventShape] = kinds.flatMap { $0.catalogue }

    /// The meaning of each type of event.
    static let meanings: [String: EventMeaning] = Dictionary(
        kinds.flatMap { meanings(of: $0) }, uniquingKeysWith: { $1 })

    private static func meanings<Kind: FormedEvent<EventMeaning>>(
        of kind: Kind.Type
    ) -> [(String, EventMeaning)] {
        kind.forms.meanings.map { ($0.name, $0.meaning) }
    }

    /// Of each type the shape that is written today, in the order of their names.
    public static let newest: [EventShape] =
        all.filter { $0.upcast == nil }.sorted { $0.name < $1.name }

    /// What every request looks at, so that nodes keep it: see `Projections/configurations.sql`.
    public static func isConfiguration(_ name: String) -> Bool {
        configurationStreams.contains { name.utf8.starts(with: $0.utf8) }
            && !ofOneDevice.contains(name)
    }

    private static let ofOneDevice: Set<String> = [
        RealmEvent.Form.subjectErased.name, ClientEvent.Form.adopted.name,
        ClientEvent.Form.certified.name,
        ClientEvent.Form.certificationRevoked.name,
    ]

    private static let configurationStreams = [
        "realm.", "host.", "app.", "client.", "signing_key.", "web_app.",
        "subscription.", "provider.",
    ]
}
