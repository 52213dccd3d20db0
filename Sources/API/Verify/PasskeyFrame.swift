internal import HTML
internal import HTTP
internal import Identity

/// The page that the profile's JavaScript client shows in a frame for a passkey. Unless the page around
/// it permits that, browsers let it make none, so that it tells that page at once to go on without one.
enum PasskeyFrame {
    static let pages: [Route<RealmContext>] = [show, asset]

    private static let show = Route<RealmContext>(
        .get, "/webauthn", id: "showPasskeyFrame", tag: "Verify",
        summary: "Tells the page around it to go on without a passkey.", right: .nothing,
        voice: .verifyPage,
        parameters: [
            Parameter("api_key", in: .query, .text(0...255), "API key of the tenant."),
            Parameter("domain", in: .query, .text(0...2048), "Origin of the embedding page."),
            Parameter("id", in: .query, .text(0...255), "Prefix of each message's name."),
        ], answer: .page, refusals: Place.refusals + [.invalidRequest]
    ) { call throws(Problem) in
        let origin = try call.framingOrigin(of: try await call.queriedTenant())
        let look = PageLook(call.context.place, call.request)
        let title = look.say("Signing in", "Anmeldung")
        return Page(
            title: title, look: look, script: path, framedBy: origin,
            content: Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p) {
                    look.say(
                        "It goes on without a passkey.", "Es geht ohne Passkey weiter.")
                }
            }
        ).response()
    }

    private static let path = "/assets/\(AssetRoutes.fingerprint(text))/skip.js"

    private static let asset: Route<RealmContext> = AssetRoutes.asset(
        path, id: "getPasskeyFrameScript", "What a page in a frame needs that makes no passkey.",
        "text/javascript; charset=utf-8", text)

    private static let text = """
        "use strict";
        (() => {
          const asked = new URLSearchParams(location.search);
          for (const name of ["FIRST_LOAD", "LOADED", "SKIP_WEBAUTHN"])
            parent.postMessage(
              JSON.stringify({callbackName: (asked.get("id") || "") + name}), asked.get("domain"));
        })();

        """
}
