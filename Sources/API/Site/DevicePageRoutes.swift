internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where the user types the code that a device shows, and decides whether it may act for them (RFC
/// 8628). A code in the address is confirmed as well: the author of the address is not trusted.
enum DevicePageRoutes {
    static let table: [Route<RealmContext>] = [show, decide]

    private static let path = PathTemplate(stringLiteral: WaitingDevice.page)
    private static let typed = Member.optional(
        "user_code", .text(0...64), "User code, as it was typed.")

    private static let show = Route<RealmContext>(
        .get, path, id: "showDevice", tag: "Pages", summary: "Shows the form for a device's code.",
        right: .nothing, voice: .page,
        parameters: [
            Parameter("user_code", in: .query, .text(0...64), "User code."),
            Parameter("done", in: .query, .text(0...10), "Decision of the user."),
        ],
        answer: .page, refusals: Page.refusals, traits: .isReturnTarget
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let code = call.text("user_code") ?? ""
        guard let browser = visit.browser else {
            return .signInFirst(code.isEmpty ? WaitingDevice.page : place(of: code))
        }
        if let done = call.text("done") { return ended(visit, isAllowed: done == "allow") }
        guard !code.isEmpty else { return ask(visit, isWrong: false) }
        return try await confirm(call, visit, browser, code)
    }

    private static let decide = Route<RealmContext>(
        .post, path, id: "decideDevice", tag: "Pages",
        summary: "Checks a device's code, or records the decision.",
        right: .nothing, voice: .page,
        body: .page([typed, .optional("decision", .text(0...20), "Decision of the user.")]),
        answer: .page, refusals: Page.refusals + [.noSuchDevice, .invalidToken]
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        guard let browser = visit.browser else { return .signInFirst(WaitingDevice.page) }
        let code = call.body["user_code"]?.string ?? ""
        guard let decision = call.body["decision"]?.string,
            decision == "allow" || decision == "deny"
        else { return try await confirm(call, visit, browser, code) }
        do throws(Problem) {
            try await WaitingDevices(call).decide(
                code, isApproved: decision == "allow", by: browser.subject,
                factors: browser.methods.compactMap(AuthenticationFactor.init),
                signedInAt: browser.authenticatedAt, in: .browser(browser.id))
        } catch {
            guard error.kind == .noSuchDevice else { throw error }
            return ask(visit, isWrong: true)
        }
        return .seeOther("\(WaitingDevice.page)?done=\(decision)")
    }

    private static func confirm(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ browser: SignedInBrowser, _ code: String
    ) async throws(Problem) -> Response {
        let device: WaitingDevice
        do throws(Problem) {
            device = try await WaitingDevices(call).find(code, for: browser.subject)
        } catch {
            guard error.kind == .noSuchDevice else { throw error }
            return ask(visit, isWrong: true)
        }
        let email = try await PersonClaims(call.context).address(of: browser.subject) ?? ""
        return page(visit, device, UserCode(typed: code)?.text ?? code, email)
    }

    private static func place(of code: String) -> String {
        "\(WaitingDevice.page)?\(Form.encode([("user_code", code)]))"
    }

    private static func page(
        _ visit: PageVisit, _ device: WaitingDevice, _ shown: String, _ email: String
    ) -> Response {
        let name = device.client?.clientName ?? device.terms.clientID
        let say = visit.say
        return visit.page(say("Connect a device", "Gerät verbinden")) {
            Page.card {
                HTML.element(.h1) {
                    say("Connect \(name) to your account?", "\(name) mit Ihrem Konto verbinden?")
                }
                // The client's identity is unverified, as with a client that redirects.
                if device.client?.isUnchecked ?? true {
                    AskingParts.unchecked(leadingTo: nil, say)
                }
                AskingParts.signedIn(as: email, say)
                HTML.element(.p) {
                    say("Your device should be showing ", "Ihr Gerät sollte ")
                    HTML.element(.strong) { shown }
                    say(
                        ". If someone else sent you this code, deny access.",
                        " zeigen. Hat Ihnen jemand anders diesen Code geschickt, lehnen Sie ab.")
                }
                HTML.element(.h2) { say("It would be able to", "Es könnte dann") }
                HTML.element(.ul, .class("scopes")) {
                    for scope in device.terms.scope {
                        ScopeItem.item(scope, isRemembered: false, say)
                    }
                }
                AskingParts.resources(Agreement(resources: device.terms.resources), say)
                visit.form(WaitingDevice.page) {
                    Parts.hidden("user_code", shown)
                    HTML.element(.div, .class("pair")) {
                        Parts.button(
                            say("Deny", "Ablehnen"), name: "decision", value: "deny", look: "second"
                        )
                        Parts.button(
                            say("Connect", "Verbinden"), name: "decision", value: "allow")
                    }
                }
                HTML.element(.div, .class("links")) {
                    AskingParts.notYou(ReturnTarget(path: place(of: shown)), say)
                }
            }
        }
    }

    private static func ask(_ visit: PageVisit, isWrong: Bool) -> Response {
        let say = visit.say
        return visit.page(
            say("Connect a device", "Gerät verbinden"), status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) { say("Connect a device", "Gerät verbinden") }
                HTML.element(.p) {
                    say(
                        "Enter the code shown on your device.",
                        "Geben Sie den Code ein, den das Gerät zeigt.")
                }
                visit.form(WaitingDevice.page) {
                    Field(
                        name: "user_code", label: say("Device code", "Gerätecode"),
                        autocomplete: "off", isFocused: true, limit: 20,
                        wrong: isWrong
                            ? say(
                                "That code is wrong or has expired.",
                                "Dieser Code ist falsch oder abgelaufen.") : nil
                    ).html
                    Parts.button(say("Continue", "Weiter"))
                }
            }
        }
    }

    private static func ended(_ visit: PageVisit, isAllowed: Bool) -> Response {
        let say = visit.say
        return visit.page(say("Done", "Fertig")) {
            Page.card {
                HTML.element(.h1) {
                    isAllowed
                        ? say("The device is connected", "Das Gerät ist verbunden")
                        : say("You denied access", "Sie haben abgelehnt")
                }
                HTML.element(.p) {
                    say(
                        "You can close this page. Your account lists your devices.",
                        "Sie können diese Seite schließen. Ihr Konto zeigt Ihre Geräte.")
                }
                Parts.link(
                    say("See your devices", "Ihre Geräte ansehen"), to: "/account/sessions",
                    look: "button second")
            }
        }
    }
}
