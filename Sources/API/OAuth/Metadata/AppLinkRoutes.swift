internal import HTTP
internal import Identity
internal import JSON

/// What phones ask a domain before an app may use its passkeys and open its links. Made of the setting
/// `native_apps`, which a realm that names none does not have.
enum AppLinkRoutes {
    static let table: [Route<RealmContext>] = [apple, android]

    private static let apple = Route<RealmContext>(
        .get, "/.well-known/apple-app-site-association", id: "getAppleAppSiteAssociation",
        tag: "Discovery", summary: "Lists the Apple apps that are associated with this domain.",
        right: .nothing, voice: .native,
        answer: .ok(
            "The apps.",
            .object(
                .required(
                    "webcredentials", .openObject, "Apps that share passkeys with the domain."),
                .required("applinks", .openObject, "Apps that open links of the domain.")),
            example: [
                "webcredentials": ["apps": ["ABCDE12345.org.example.app"]], "applinks": [:],
            ]),
        refusals: Place.refusals + [.noSuchRoute]
    ) { call throws(Problem) in
        let apps = try call.nativeApps { if case .apple(let name) = $0 { name } else { nil } }
        let names = JSON.array(apps.map { .string($0) })
        return .published(
            [
                "webcredentials": ["apps": names],
                "applinks": [
                    "details": [["appIDs": names, "components": [["/": "/magic-login"]]]]
                ],
            ])
    }

    private static let android = Route<RealmContext>(
        .get, "/.well-known/assetlinks.json", id: "getAssetLinks", tag: "Discovery",
        summary: "Lists the Android apps that are associated with this domain.", right: .nothing,
        voice: .native,
        answer: .ok(
            "A statement for each app.", .list(of: .openObject, 1...20),
            example: [["relation": ["delegate_permission/common.get_login_creds"]]]),
        refusals: Place.refusals + [.noSuchRoute]
    ) { call throws(Problem) in
        let apps = try call.nativeApps { app -> (String, String)? in
            if case .android(let package, let digits) = app { (package, digits) } else { nil }
        }
        return .published(
            .array(
                apps.map { package, digits in
                    [
                        "relation": [
                            "delegate_permission/common.handle_all_urls",
                            "delegate_permission/common.get_login_creds",
                        ],
                        "target": [
                            "namespace": "android_app", "package_name": .string(package),
                            "sha256_cert_fingerprints": [.string(inPairs(digits))],
                        ],
                    ]
                }))
    }

    private static func inPairs(_ digits: String) -> String {
        stride(from: 0, to: digits.utf8.count, by: 2)
            .map { String(digits.dropFirst($0).prefix(2)) }.joined(separator: ":")
    }
}

extension Call<RealmContext> {
    fileprivate func nativeApps<Found>(
        _ choose: (NativeApp) -> Found?
    ) throws(Problem) -> [Found] {
        let apps = context.place.settings[SettingCatalogue.nativeApps].compactMap {
            NativeApp($0).flatMap(choose)
        }
        guard !apps.isEmpty else { throw Problem(.noSuchRoute) }
        return apps
    }
}

extension Response {
    /// A public response that may be cached for a while.
    fileprivate static func published(_ document: JSON) -> Response {
        var response = Response.json(.ok, document)
        response.headers["Cache-Control"] = "public, max-age=300"
        return response
    }
}
