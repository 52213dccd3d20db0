internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// Scripts of the owner's web apps that sign browsers out at the realm's own host (CORS with credentials,
/// Fetch Standard section 3.2.5).
///
/// Nothing else that goes by a cookie is open to a script of another origin. An app shows its own token
/// beside the cookie, and comes from its own place: neither alone opens anything.
enum AppOrigins {
    /// The CORS preflight that a browser sends before a cross-origin request.
    static func question(
        _ path: PathTemplate, id: String, _ methods: String, voice: Voice,
        refusals: [ProblemKind]
    ) -> Route<RealmContext> {
        Route(
            .options, path, id: id, tag: "Flagship",
            summary: "Answers CORS requests of the owner's web apps.", right: .nothing,
            voice: voice,
            answer: .done("In headers."),
            refusals: refusals
        ) { call throws(Problem) in
            var response = Response(status: .noContent)
            response.headers["Allow"] = methods
            guard let origin = try await call.appOrigin()?.origin else { return response }
            mayRead(&response, origin)
            response.headers["Access-Control-Allow-Methods"] = "DELETE"
            response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            response.headers["Access-Control-Max-Age"] = "600"
            return response
        }
    }

    static func mayRead(_ response: inout Response, _ origin: String) {
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Vary"] = "Origin"
    }
}

extension Call<RealmContext> {
    /// The web app from whose place the request is, as the browser says.
    func appOrigin() async throws(Problem) -> (app: WebAppView, origin: String)? {
        let lines = request.headers.all("Origin")
        guard lines.count == 1, let origin = lines.first, let parts = URLParts.parse(origin),
            let host = parts.host
        else { return nil }
        let name = parts.port.map { "\(host):\($0)" } ?? host
        let parent = ".\(site.domain)"
        var found: WebAppView?
        if name.utf8.count > parent.utf8.count, name.hasSuffix(parent) {
            let slug = String(name.unicodeScalars.dropLast(parent.unicodeScalars.count))
            found = try await context.ask(WebAppView.bySlug, (slug, .app))
        } else {
            found = try await context.ask(WebAppView.byOrigin, name)
        }
        guard let found, webAppAddress(of: found).utf8.elementsEqual(origin.utf8) else {
            return nil
        }
        return (found, origin)
    }

    /// The place of the app that asks, where it has shown the token that the owner's device opened it with.
    func knownAppOrigin() async throws(Problem) -> String? {
        guard let (app, origin) = try await appOrigin(), let text = try bearer(),
            let terms = try await context.present(text)?.session.terms,
            terms.method == .flagship, terms.webApp == app.id,
            let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream).account,
            terms.account == owner
        else { return nil }
        return origin
    }
}
