internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import JSON
internal import Values

/// What pages are drawn with is the same at every host, also at one that leads to no realm: the page that
/// says so is drawn with it too.
struct AssetContext: RouteContext {
    func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) {}
}

/// What pages are drawn with. The name of each file says what is in it, so that browsers keep it for
/// as long as they like.
enum AssetRoutes {
    static let table: [Route<AssetContext>] = [sheet, theme, script]
    static let realmTable: [Route<RealmContext>] = [icon]

    private static let version = fingerprint(StyleSheet.text + Accent.usual.sheet)
    static let sheetPath = "/assets/\(version)/pages.css"
    private static let themes = "/assets/\(version)/colour"

    static func themePath(_ accent: Accent) -> String { "\(themes)/\(accent.digits)" }

    static func fingerprint(_ text: String) -> String {
        String(Base64URL.encode(SHA256.hash(Array(text.utf8))).prefix(12))
    }

    private static let sheet: Route<AssetContext> = asset(
        sheetPath, id: "getStyleSheet", "The look of all pages.", "text/css; charset=utf-8",
        StyleSheet.text)

    static let scriptPath = "/assets/\(fingerprint(Script.text))/passkeys.js"

    private static let script: Route<AssetContext> = asset(
        scriptPath, id: "getScript", "What passkeys need.", "text/javascript; charset=utf-8",
        Script.text)

    private static let theme = Route<AssetContext>(
        .get, PathTemplate(stringLiteral: "\(themes)/{colour}"), id: "getTheme", tag: "Pages",
        summary: "Serves the style sheet of a realm's colour.", right: .nothing, voice: .page,
        parameters: [
            Parameter("colour", in: .path, .text(1...16), "Colour in six hexadecimal digits.")
        ],
        answer: Answer(status: .ok, description: "A sheet.", content: .text("text/css")),
        traits: .servedAtWebApps
    ) { call throws(Problem) in
        let text = try call.required("colour")
        // Each has one name.
        guard let accent = Accent(text), accent.digits == text else { throw Problem(.noSuchRoute) }
        return kept(.text(.ok, "text/css; charset=utf-8", accent.sheet))
    }

    /// Browsers ask for it unasked. A spot of the realm's colour is easier to find among tabs than nothing.
    private static let icon = Route<RealmContext>(
        .get, "/favicon.ico", id: "getIcon", tag: "Pages", summary: "Serves the icon of all pages.",
        right: .nothing, voice: .page,
        answer: Answer(status: .ok, description: "A picture.", content: .text("image/svg+xml")),
        refusals: Place.refusals
    ) { call throws(Problem) in
        let colour = PageLook(call.context.place, call.request).accent.digits
        var response = Response.text(
            .ok, "image/svg+xml",
            ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">"##
                + ##"<rect width="32" height="32" rx="8" fill="#\##(colour)"/></svg>"##)
        response.headers["Cache-Control"] = "public, max-age=86400"
        return response
    }

    static func asset<Context: RouteContext>(
        _ path: String, id: String, _ summary: String, _ type: String, _ text: String
    ) -> Route<Context> {
        Route<Context>(
            .get, PathTemplate(stringLiteral: path), id: id, tag: "Pages", summary: summary,
            right: .nothing, voice: .page,
            answer: Answer(status: .ok, description: "The file.", content: .text(type)),
            traits: .servedAtWebApps
        ) { _ throws(Problem) in kept(.text(.ok, type, text)) }
    }

    private static func kept(_ response: Response) -> Response {
        var response = response
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
    }
}
