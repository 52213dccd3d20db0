internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What routes of the flagship profile know of web apps.
extension Call<RealmContext> {
    func webApp(_ slug: String, _ kind: WebAppKind) async throws(Problem) -> WebAppView {
        let found = try await context.ask(WebAppView.bySlug, (slug, kind))
        guard let found else { throw Problem.said(.noSuchApp, "Application is not installed") }
        return found
    }

    /// The app of this name, else the realm's own choice.
    func webApp(orDefault slug: String?) async throws(Problem) -> WebAppView {
        let chosen = slug ?? context.place.settings[SettingCatalogue.defaultWebApp]
        guard let chosen, !chosen.isEmpty else {
            throw Problem.said(.noSuchApp, "Application is not installed")
        }
        return try await webApp(chosen, .app)
    }

    /// Where an app's pages are: nothing that a request says has a part in it.
    func webAppAddress(of app: WebAppView) -> String {
        if let origin = app.card.origin { return origin }
        let (scheme, domain) = site
        return "\(scheme)://\(app.card.slug).\(domain)"
    }

    /// How the realm is reached, and as what.
    var site: (scheme: String, domain: String) {
        let text = context.place.issuer
        let bytes = Array(text.utf8)
        guard let sign = bytes.firstIndex(of: UInt8(ascii: ":")) else { return ("https", text) }
        return (
            String(decoding: bytes[..<sign], as: UTF8.self),
            String(decoding: bytes[sign...].dropFirst(3), as: UTF8.self)
        )
    }
}
