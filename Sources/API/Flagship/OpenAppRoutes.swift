internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What the flagship app opens web apps and runs konnectors with.
enum OpenAppRoutes {
    static let table: [Route<RealmContext>] = [open, konnector]

    private static let slug = Parameter(
        "slug", in: .path, .text(1...128), "Slug of the web app.", example: "drive")
    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .noSuchApp]

    private static let open = Route<RealmContext>(
        .get, "/apps/{slug}/open", id: "openWebApp", tag: "Flagship",
        summary: "Shows what a web app is opened with.",
        detail: """
            For who shows a token of scope `*`. A browser is signed in at the app's place: its cookie \
            is `Cookie`, for the web view of the app that asks, unless the request has a good one \
            already.
            """,
        right: .nothing, voice: .flagship, parameters: [slug],
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        let token = try await call.everything()
        let app = try await call.webApp(try call.required("slug"), .app)
        let known = try await call.knownCookie(of: token.session.terms.account, at: app.id)
        let secret = BrowserSecret(for: call.context.newID())
        guard let digest = call.context.mint.digest(of: secret) else {
            throw Problem(.internalError)
        }
        let opened = try await call.open(
            app.id, for: token,
            browser: known == nil ? .init(session: secret.session, digest: digest) : nil)
        return try await call.document(
            opened, cookie: WebAppCookie.line(known ?? secret.text, host: call.context.place.host))
    }

    private static let konnector = Route<RealmContext>(
        .post, "/auth/tokens/konnectors/{slug}", id: "issueKonnectorToken", tag: "Flagship",
        summary: "Issues a token for a konnector that runs on a device.",
        detail: "For who shows a token of scope `*`. It is good for half an hour.",
        right: .nothing, voice: .flagship, parameters: [slug],
        answer: Answer(
            status: .created, description: "The token.",
            content: .json(.text(1...512), example: "urd_at_…")), refusals: refusals
    ) { call throws(Problem) in
        let token = try await call.everything()
        let konnector = try await call.webApp(try call.required("slug"), .konnector)
        let opened = try await call.open(konnector.id, for: token, browser: nil)
        return .json(.created, .string(call.token(opened)))
    }
}

extension Call<RealmContext> {
    fileprivate func open(
        _ app: UUID, for token: PresentedToken, browser: OpenWebApp.NewBrowser?
    ) async throws(Problem) -> OpenWebApp.Outcome {
        try await Commands(self).dispatch(
            OpenWebApp(
                webApp: app, session: token.session.id, token: context.newID(), browser: browser,
                from: context.signInPlace(of: request), now: context.clock.now()),
            as: .init("client:\(token.session.terms.clientID)"))
    }

    fileprivate func token(_ opened: OpenWebApp.Outcome) -> String {
        let terms = opened.granted.terms
        return context.mint.accessToken(
            opened.granted, issuedAt: terms.openedAt, expiresAt: terms.expiresAt)
    }

    /// The cookie of the request that signs this account in at the app's place already.
    fileprivate func knownCookie(
        of account: UUID?, at app: UUID
    ) async throws(Problem) -> String? {
        for text in BrowserSessions(self).sessionCookies(at: app)
        where try await BrowserSessions(self).find(text, at: app)?.subject == account {
            return text
        }
        return nil
    }

    /// All values are strings, as the apps put them into a page; an object is JSON in a string.
    fileprivate func document(
        _ opened: OpenWebApp.Outcome, cookie: String
    ) async throws(Problem) -> Response {
        let (card, base) = (opened.card, context.place.issuer)
        let settings = context.place.settings
        func text(_ value: JSON) -> JSON {
            .string(String(decoding: value.canonical(), as: UTF8.self))
        }
        let accent = settings[SettingCatalogue.accentColour].flatMap { Accent($0) } ?? .usual
        let logo = settings[SettingCatalogue.logoURL]
        return .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.apps.open", "id": .string(card.slug),
                    "attributes": [
                        "AppEditor": .string(card.editor ?? ""), "AppName": .string(card.name),
                        "AppNamePrefix": .string(card.namePrefix ?? ""),
                        "AppSlug": .string(card.slug), "IconPath": .string(card.icon ?? ""),
                        "Capabilities": text(try await capabilitiesOfRealm()),
                        "Flags": text(.object(card.flags)), "Cookie": .string(cookie),
                        "Token": .string(token(opened)), "Domain": .string(site.domain),
                        "SubDomain": "nested", "Tracking": "false",
                        "Locale": .string(language.rawValue),
                        "ThemeCSS": .string(
                            Self.sheet(base + AssetRoutes.sheetPath)
                                + Self.sheet(base + AssetRoutes.themePath(accent))),
                        "Favicon": .string(
                            logo.map { #"<link rel="icon" href="\#(Self.escaped($0))">"# } ?? ""),
                        // There is no platform here whose parts would come with every app.
                        "CozyBar": "", "CozyFonts": "", "CozyClientJS": "",
                        "DefaultWallpaper": "", "Warnings": [],
                    ],
                    "links": ["self": .string("/apps/\(card.slug)/open")],
                ]
            ])
    }

    private static func sheet(_ address: String) -> String {
        #"<link rel="stylesheet" type="text/css" href="\#(escaped(address))">"#
    }

    /// An address in an attribute.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
            .replacing("<", with: "&lt;")
    }
}

extension OpenWebApp.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notAllowed: .said(.forbidden, "Not authorized")
        case .noWebApp: .said(.noSuchApp, "Application is not installed")
        }
    }
}
