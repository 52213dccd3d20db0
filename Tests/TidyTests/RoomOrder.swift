/// The order of rooms in the modules that have several.
enum RoomOrder {
    static let all = [api, urd, identity, readModels]

    static let api = RoomRules(
        module: "API",
        order: [
            "Web": [],
            "Access": ["Web"],
            "Letters": ["Web", "Access"],
            "Browser": ["Web", "Access", "Letters"],
            "OAuth": shared,
            "Native": shared,
            "Site": shared,
            "Flagship": shared,
            "Signals": shared,
            // The profile gives the endpoints of OAuth other addresses.
            "Voo": shared.union(["OAuth"]),
            "Verify": shared,
            "Receipts": shared,
            "Federation": shared,
            "Admin": shared,
            // What follows a realm is opened with the keys of its administration.
            "Subscriptions": shared.union(["Admin"]),
            "Analysis": shared.union(["Admin"]),
            // A configuration is carried out by the routes of both.
            "Configuration": shared.union(["Admin", "Subscriptions"]),
            "Testing": shared.union(["Admin"]),
        ])

    private static let shared: Set<String> = ["Web", "Access", "Letters", "Browser"]

    static let urd = RoomRules(
        module: "urd",
        order: stacked(
            "System", "Terminal", "Settings", "CommandLine", "Node", "Mailing", "Notifying",
            "Logout", "Subscribing", "Signalling", "Findings", "Jobs", "Cases", "AsOf",
            "Analysts", "Administration", "Serve", "Feed", "Exporting", "Importing",
            "Configuring", "Doctor", "Setup", "Dev", "Backup", "Releases", "Commands"))

    static let readModels = RoomRules(
        module: "ReadModels",
        order: stacked(
            "Engine", "Following", "Queries", "Deliveries", "Jobs", "WhatIf", "Signals",
            "CaseFiles", "AsOfBuilds"))

    /// What sign-ins stand on is one room; a feature beside it names no other feature.
    static let identity = RoomRules(
        module: "Identity",
        order: [
            "Kernel": [], "Flagship": ["Kernel"], "Verify": ["Kernel"], "Federation": ["Kernel"],
            "Subscriptions": ["Kernel"], "Signals": ["Kernel"], "Messaging": ["Kernel"],
            // It says of each event what that is to analysts and receivers.
            "Analysis": [
                "Kernel", "Flagship", "Verify", "Federation", "Subscriptions", "Signals",
                "Messaging",
            ],
        ],
        rooms: rooms(
            [
                "Flagship": [
                    "Installations", "Owners", "SessionCodes", "Attestations", "WebApps",
                    "Connections", "Notifications", "PushProviders",
                ],
                "Verify": ["Tenants", "Captchas"], "Signals": ["SharedSignals"],
                "Analysis": ["Findings", "Policies", "EventMappings"],
                "Messaging": ["MessageGateways"],
                "Kernel": [
                    "Accounts", "Administration", "Apps", "Browser", "Clients", "Common",
                    "Configuration", "Consents",
                    "Devices", "Disclosures", "Filters", "Grants", "Imports", "Invites",
                    "LogoutNotices", "MailedCodes", "MailedLinks", "Mailboxes", "Mails", "Passkeys",
                    "Passphrases", "Providers", "PushedRequests", "Realms", "Registration",
                    "Sessions", "SigningKeys", "TwoFactor",
                ],
            ]),
        exceptions: [
            "Browser/OpenerLine.swift: Installation",
            "Clients/DeleteClient.swift: Installation",
            "Clients/DeleteClient.swift: Owner",
            "Clients/DeleteClient.swift: OwnerEvent",
            "Clients/MetadataCatalogue.swift: NotificationCategories",
            "Clients/SubjectForm.swift: Installation",
            "Common/EventVisibility.swift: EventCatalogue",
            "Filters/EventAttributes.swift: EventCatalogue",
            "Grants/AuthorizationCodeGrant.swift: TenantMethods",
            "Grants/GrantDesk.swift: FederatedToken",
            "Grants/RefreshGrant.swift: Superiors",
            "MailedLinks/ResetPassphrase.swift: Owner",
            "Passphrases/ChangePassphrase.swift: Superiors",
            "Sessions/SessionEvent.swift: FederatedToken",
            "SharedSignals/SignalOffer.swift: Signal",
            "SharedSignals/SignalOffer.swift: SignalKind",
            "Subscriptions/SubscriptionFilter.swift: EventCatalogue",
            "Subscriptions/SubscriptionSelection.swift: OCSFFacts",
        ])

    /// Each may name those before it.
    private static func stacked(_ rooms: String...) -> [String: Set<String>] {
        var order: [String: Set<String>] = [:]
        for (index, room) in rooms.enumerated() { order[room] = Set(rooms[..<index]) }
        return order
    }

    private static func rooms(_ folders: [String: [String]]) -> [String: String] {
        var rooms: [String: String] = [:]
        for (room, names) in folders { for name in names { rooms[name] = room } }
        return rooms
    }
}
