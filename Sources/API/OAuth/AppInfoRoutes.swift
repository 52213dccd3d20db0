internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// What an app must know before it starts a sign-in.
enum AppInfoRoutes {
    static func table(_ grants: GrantForms) -> [Route<RealmContext>] { [appInfo(grants)] }

    private static func appInfo(_ grants: GrantForms) -> Route<RealmContext> {
        Route(
            .get, "/api/app-info", id: "getAppInfo", tag: "Native sign-in",
            summary: "Shows how to sign in to the app: names, fields and what is enabled.",
            detail: "With `client_id`, of the ways to sign in only those that this client may use.",
            right: .nothing, voice: .native,
            parameters: [
                Parameter(
                    "client_id", in: .query, .text(1...255), "OAuth client id.", example: "phone")
            ],
            answer: .ok("Public information on the app.", schema, example: example),
            refusals: Place.refusals
        ) { call throws(Problem) in
            let client = try await call.namedClient()
            let app = (client ?? nil)?.metadata.appID
            let settings =
                try await RealmLookups(call.context).settings(ofApp: app)
                ?? call.context.place.settings
            let offered = call.offeredGrants(grants, settings, client)
            return .native(
                .ok,
                [
                    "DisplayName": .string(settings[SettingCatalogue.displayName]),
                    "Issuer": .string(call.context.place.issuer),
                    "Registration": .string(settings[SettingCatalogue.registration].shownName),
                    "Branding": branding(settings),
                    "RegistrationFields": [
                        // The address is what an account is found by; there are no other names for it.
                        "Email": "Required", "Username": "Off",
                        "Firstname": .string(
                            settings[SettingCatalogue.registrationFirstName].shownName),
                        "Lastname": .string(
                            settings[SettingCatalogue.registrationLastName].shownName),
                    ],
                    "NativeGrants": [
                        "Enabled": .bool(settings[SettingCatalogue.nativeGrants]),
                        "Otp": .bool(offered.contains(.nativeOTP)),
                        "MagicLink": .bool(offered.contains(.nativeMagicLink)),
                        "Passkey": .bool(offered.contains(.nativePasskey)),
                    ],
                ])
        }
    }

    /// Null, and so left out, where nothing is set.
    private static func branding(_ settings: Settings) -> JSON {
        let (colour, logo) = (
            settings[SettingCatalogue.accentColour], settings[SettingCatalogue.logoURL]
        )
        guard colour != nil || logo != nil else { return .null }
        return [
            "AccentColour": colour.map { .string($0) } ?? .null,
            "LogoUrl": logo.map { .string($0) } ?? .null,
        ]
    }

    private static let demand = Schema.oneOf(FieldDemand.allCases.map(\.shownName))

    private static let schema = Schema.named(
        "AppInfo",
        .object(
            .required("DisplayName", .text(0...200), "Display name of the app or realm."),
            .required(
                "Issuer", .text(1...2048), "Issuer identifier (`iss`) of the realm's tokens."),
            .optional(
                "Branding",
                .object(
                    .optional("AccentColour", .text(7...7), "Colour of buttons, as #rrggbb."),
                    .optional("LogoUrl", .text(8...2000), "URL of the logo.")),
                "Branding, as far as it is set."),
            .required(
                "Registration", .oneOf(RegistrationPosture.allCases.map(\.shownName)),
                "Registration mode of the realm."),
            .required(
                "RegistrationFields",
                .object(
                    .required("Email", demand, "Requirement for the mail address."),
                    .required("Username", demand, "Requirement for a user name."),
                    .required("Firstname", demand, "Requirement for the first name."),
                    .required("Lastname", demand, "Requirement for the last name.")),
                "Fields of the registration form."),
            .required(
                "NativeGrants",
                .object(
                    .required("Enabled", .boolean, "Whether any native grant is enabled."),
                    .required("Otp", .boolean, "Whether signing in with a mailed code is enabled."),
                    .required(
                        "MagicLink", .boolean, "Whether signing in with a mailed link is enabled."),
                    .required("Passkey", .boolean, "Whether signing in with a passkey is enabled.")),
                "Grants for signing in without a browser.")))

    private static let example: JSON = [
        "DisplayName": "Acme", "Issuer": "https://id.example.com", "Registration": "JitOnOtp",
        "Branding": ["AccentColour": "#0a7b6c", "LogoUrl": "https://acme.example/logo.svg"],
        "RegistrationFields": [
            "Email": "Required", "Username": "Off", "Firstname": "Optional",
            "Lastname": "Optional",
        ],
        "NativeGrants": ["Enabled": true, "Otp": true, "MagicLink": false, "Passkey": false],
    ]
}

extension Call<RealmContext> {
    /// Nil without a `client_id`. An inner nil: no usable client has that id.
    fileprivate func namedClient() async throws(Problem) -> KnownClient?? {
        guard let clientID = text("client_id") else { return nil }
        let client = try await reading { () throws(LogFailure) in
            try await context.clients.recent(clientID, in: context.place.realm)
        }
        guard let client, !client.isDisabled else { return .some(nil) }
        return client
    }

    /// The native grants that work here, for the client that was named if one was. A client that is
    /// not there may use none.
    fileprivate func offeredGrants(
        _ grants: GrantForms, _ settings: Settings, _ client: KnownClient??
    ) -> Set<GrantType> {
        guard settings[SettingCatalogue.nativeGrants] else { return [] }
        let here = Set(grants.all.map(\.type).filter(\.isNative))
        guard let client else { return here }
        return here.intersection(client?.metadata.grantTypes ?? [])
    }
}

extension FieldDemand {
    fileprivate var shownName: String {
        switch self {
        case .off: "Off"
        case .optional: "Optional"
        case .required: "Required"
        }
    }
}

extension RegistrationPosture {
    fileprivate var shownName: String {
        switch self {
        case .off: "Off"
        case .jitOnOTP: "JitOnOtp"
        case .explicitEndpoint: "ExplicitEndpoint"
        case .inviteCode: "InviteCode"
        }
    }
}
