internal import EventSourcing
internal import Identity
internal import JSON

/// All kinds of things that a configuration file names, in the order in which they are made: what others refer to comes first.
enum ConfigurationCatalogue {
    static let kinds: [ConfigurationKind] = [
        settings, captcha, hosts, apps, webApps, konnectors, clients, providers, gateways, apple,
        firebase, rules, webhooks, subscriptions,
    ]

    /// By the names of the kinds: made once.
    static let fileMembers: [String: (members: [Member], visible: Set<String>)] = Dictionary(
        uniqueKeysWithValues: kinds.map { kind in
            let members = kind.makeFileMembers()
            return (kind.name, (members, Set(members.map(\.name)).subtracting(kind.secrets)))
        })

    static func kind(_ name: String) -> ConfigurationKind {
        guard let found = kinds.first(where: { $0.name == name }) else {
            preconditionFailure("A reference names a kind.")
        }
        return found
    }

    static func route(_ id: String) -> Route<AdminContext> {
        guard let found = routes[id] else {
            preconditionFailure("A kind names operations of the admin API.")
        }
        return found
    }

    private static let routes = Dictionary(
        (AdminSurface().routes + SubscriptionSurface().routes).map { ($0.id, $0) },
        uniquingKeysWith: { first, _ in first })

    private static let settings = ConfigurationKind(
        name: "settings", noun: "settings", about: "Settings of the realm.", form: .single,
        list: "getRealmSettings", create: "setRealmSettings", update: "setRealmSettings")

    private static let captcha = ConfigurationKind(
        name: "captcha", noun: "captcha secret", about: "Secret of the realm's captcha.",
        form: .single, create: "setCaptchaSecret", update: "setCaptchaSecret",
        secrets: ["secret"])

    private static let hosts = ConfigurationKind(
        name: "hosts", noun: "host", about: "Host names that lead to the realm.", form: .names,
        key: "host", list: "listHosts", create: "assignHost", update: "assignHost",
        remove: "releaseHost", removal: [HostEvent.Form.released.name])

    private static let apps = ConfigurationKind(
        name: "apps", noun: "app", about: "Apps by their sub-domains.", key: "slug",
        id: ("id", "app_id"), list: "listApps", create: "createApp", update: "updateApp",
        remove: "deleteApp", rival: "web_apps", removal: [AppEvent.Form.deleted.name])

    private static let webApps = webApp(
        .app, name: "web_apps", noun: "web app", about: "Web apps by their sub-domains.",
        rival: "apps")

    private static let konnectors = webApp(
        .konnector, name: "konnectors", noun: "konnector", about: "Konnectors by their slugs.")

    private static func webApp(
        _ kind: WebAppKind, name: String, noun: String, about: String, rival: String? = nil
    ) -> ConfigurationKind {
        ConfigurationKind(
            name: name, noun: noun, about: about, key: "slug", id: ("id", "web_app_id"),
            list: "listWebApps", create: "registerWebApp", update: "updateWebApp",
            remove: "removeWebApp", given: ["kind": .string(kind.rawValue)], rival: rival,
            removal: [WebAppEvent.Form.removed.name])
    }

    private static let clients = ConfigurationKind(
        name: "clients", noun: "client", about: "OAuth clients by their client ids.",
        key: "client_id", list: "listClients", create: "registerClient", update: "changeClient",
        remove: "deleteClient",
        // Of people and of their devices: neither stands in a configuration.
        omitted: ["contacts", "notification_device_token", "software_statement"],
        references: ["app": .init(member: "app_id", kind: "apps")],
        removal: [ClientEvent.Form.deleted.name],
        isConfigured: { !($0["grant_types"]?.array ?? []).contains(ofInstallations) })

    private static let ofInstallations = JSON.string(GrantType.flagship.rawValue)

    private static let providers = ConfigurationKind(
        name: "providers", noun: "provider", about: "OpenID providers by their names.",
        key: "provider", list: "listProviders", create: "configureProvider",
        update: "configureProvider", replaces: true, remove: "removeProvider",
        secrets: ["client_secret"], removal: [ProviderEvent.Form.removed.name],
        kept: { $0["has_secret"] == true ? ["client_secret"] : [] })

    private static let gateways = ConfigurationKind(
        name: "message_gateways", noun: "message gateway",
        about: "Gateways that carry messages to phones, by channel.", key: "channel",
        list: "listMessageGateways", create: "setMessageGateway", update: "setMessageGateway",
        replaces: true, remove: "removeMessageGateway",
        secrets: ["secret", "receipt_secret", "verify_token"],
        removal: [MessageGatewayEvent.Form.removed.name],
        kept: { $0["secrets"]?.array?.compactMap(\.string) ?? [] })

    private static let apple = ConfigurationKind(
        name: "push_apns", noun: "push provider", about: "Key for notifications by Apple.",
        form: .single, list: "listPushProviders", create: "setAppleProvider",
        update: "setAppleProvider", replaces: true, remove: "removeAppleProvider",
        secrets: ["private_key"], removal: [PushProviderEvent.Form.removed.name],
        isConfigured: { $0["provider"] == "apns" },
        kept: { $0["usable"] == true ? ["private_key"] : [] })

    private static let firebase = ConfigurationKind(
        name: "push_fcm", noun: "push provider", about: "Key for notifications by Firebase.",
        form: .single, list: "listPushProviders", create: "setFirebaseProvider",
        update: "setFirebaseProvider", replaces: true, remove: "removeFirebaseProvider",
        secrets: ["service_account"], removal: [PushProviderEvent.Form.removed.name],
        isConfigured: { $0["provider"] == "fcm" },
        kept: { $0["usable"] == true ? ["service_account"] : [] })

    private static let rules = ConfigurationKind(
        name: "finding_rules", noun: "finding rule", about: "Rules for findings by their names.",
        key: "rule", list: "listFindingRules", create: "setFindingRule", update: "setFindingRule",
        replaces: true,
        isConfigured: { $0["enabled"] != true || $0["thresholds"] != $0["defaults"] },
        members: { listed in
            var members = listed["thresholds"]?.object ?? [:]
            members["enabled"] = listed["enabled"]
            return members
        })

    private static let webhooks = ConfigurationKind(
        name: "webhooks", noun: "webhook", about: "Webhooks by their names.", key: "name",
        id: ("id", "webhook_id"), list: "listWebhooks", create: "createWebhook",
        update: "updateWebhook", remove: "deleteWebhook", secrets: ["headers"],
        omitted: ["starts_after", "streams"], removal: [SubscriptionEvent.Form.deleted.name],
        kept: { ($0["header_names"]?.array ?? []).isEmpty ? [] : ["headers"] })

    private static let subscriptions = ConfigurationKind(
        name: "subscriptions", noun: "subscription", about: "Readers of the feed by their names.",
        key: "name", id: ("id", "subscription_id"), list: "listSubscriptions",
        create: "createSubscription", update: "updateSubscription", remove: "deleteSubscription",
        omitted: ["from"], removal: [SubscriptionEvent.Form.deleted.name])
}
