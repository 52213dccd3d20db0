internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import ReadModels

/// The logo of the application whose request is in progress.
enum LogoRoutes {
    static func table(_ logos: ClientLogos?) -> [Route<RealmContext>] { [show(logos)] }

    private static let path = "/login/logo"

    private static func show(_ logos: ClientLogos?) -> Route<RealmContext> {
        Route(
            .get, PathTemplate(stringLiteral: path), id: "showClientLogo", tag: "Pages",
            summary: "Serves the logo of an application.", right: .nothing, voice: .page,
            parameters: ReturnTarget.parameters,
            answer: Answer(status: .ok, description: "A picture.", content: .bytes("image/png")),
            refusals: Place.refusals
        ) { call throws(Problem) in
            guard let sealed = ReturnTarget(call).sealed,
                let asked = call.context.pendingRequest(sealed)
            else { throw Problem(.noSuchRoute) }
            let known = try await reading { () throws(LogFailure) in
                try await call.context.clients.recent(asked.clientID, in: call.context.place.realm)
            }
            guard let known, known.id == asked.client, let address = known.metadata.logoURI,
                let picture = try await logos.present.picture(at: address)
            else { throw Problem(.noSuchRoute) }
            var response = Response.bytes(.ok, picture.bytes)
            response.headers["Content-Type"] = picture.type
            response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
            return response
        }
    }

    /// Beside the application's name, which says the same.
    static func picture(_ asked: ApplicationRequest?, _ returnTarget: ReturnTarget) -> HTML {
        HTML {
            if asked?.hasLogo == true, returnTarget.sealed != nil {
                HTML.element(
                    .img, .class("client"), .source(returnTarget.link(path)), .alternative(""))
            }
        }
    }
}
