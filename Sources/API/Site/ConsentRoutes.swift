internal import HTML
internal import HTTP
internal import Identity
internal import JSON

/// The consent page, where the user decides whether an application may have what it asks for.
enum ConsentRoutes {
    static let table: [Route<RealmContext>] = [show, decide]

    private static let show = Route<RealmContext>(
        .get, "/consent", id: "showConsent", tag: "Pages",
        summary: "Shows what an application asks for.", right: .nothing,
        voice: .page, parameters: ReturnTarget.parameters, answer: .page, refusals: Place.refusals,
        traits: .isReturnTarget
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let returnTarget = ReturnTarget(call)
        guard let browser = visit.browser else { return .seeOther(returnTarget.link("/login")) }
        guard let asked = try await PageRequest(call).applicationRequest(returnTarget, for: browser)
        else {
            return over(visit)
        }
        let address = try await PersonClaims(call.context).address(of: browser.subject)
        return page(visit, returnTarget, asked, address ?? "")
    }

    private static let decide = Route<RealmContext>(
        .post, "/consent", id: "decideConsent", tag: "Pages", summary: "Records the decision.",
        right: .nothing, voice: .page,
        body: .page(
            ReturnTarget.members + [.optional("decision", .text(0...20), "Decision of the user.")]),
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        guard let browser = visit.browser else { return .seeOther(returnTarget.link("/login")) }
        guard let sealed = returnTarget.sealed else { return over(visit) }
        let decision = call.body["decision"]?.string
        guard decision == "allow" || decision == "deny" else {
            return .seeOther(returnTarget.link("/consent"))
        }
        return try await call.context.applicationRequests.decide(
            sealed, allows: decision == "allow", as: browser, call)
    }

    private static func page(
        _ visit: PageVisit, _ returnTarget: ReturnTarget, _ asked: ApplicationRequest,
        _ email: String
    ) -> Response {
        let say = visit.say
        let title = say(
            "Allow \(asked.clientName)?", "\(asked.clientName) erlauben?")
        return visit.page(title, leadsAway: true) {
            Page.card {
                LogoRoutes.picture(asked, returnTarget)
                HTML.element(.h1) {
                    say(
                        "\(asked.clientName) asks for access to your account",
                        "\(asked.clientName) bittet um Zugriff auf Ihr Konto")
                }
                if let place = asked.leadsTo {
                    AskingParts.unchecked(leadingTo: place, say)
                }
                AskingParts.signedIn(as: email, say)
                HTML.element(.h2) { say("It would be able to", "Die App könnte dann") }
                HTML.element(.ul, .class("scopes")) {
                    for scope in asked.asks.scope {
                        ScopeItem.item(
                            scope, isRemembered: asked.remembered.scope.contains(scope), say)
                    }
                }
                AskingParts.resources(asked.asks, remembered: asked.remembered, say)
                visit.form("/consent") {
                    returnTarget.fields
                    HTML.element(.div, .class("pair")) {
                        Parts.button(
                            say("Deny", "Ablehnen"), name: "decision", value: "deny",
                            look: "second")
                        Parts.button(say("Allow", "Erlauben"), name: "decision", value: "allow")
                    }
                }
                HTML.element(.p, .class("hint")) {
                    say(
                        "You can remove access any time under Devices.",
                        "Sie können den Zugriff jederzeit unter „Geräte“ entziehen."
                    )
                }
                HTML.element(.div, .class("links")) {
                    if let site = asked.site {
                        Parts.link(say("Website", "Website"), to: site)
                    }
                    if let policy = asked.policy {
                        Parts.link(say("Privacy", "Datenschutz"), to: policy)
                    }
                    if let terms = asked.terms {
                        Parts.link(say("Terms", "Nutzungs\u{AD}bedingungen"), to: terms)
                    }
                    AskingParts.notYou(returnTarget, say)
                }
            }
        }
    }

    private static func over(_ visit: PageVisit) -> Response {
        let say = visit.say
        return visit.notice(
            say("This sign-in has expired", "Diese Anmeldung ist abgelaufen"),
            say(
                "Go back to the app and start again.",
                "Gehen Sie zurück zur App und beginnen Sie noch einmal."),
            .badRequest)
    }
}
