internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The first page of somebody's own account, and what happened to it.
enum OverviewRoutes {
    static let table: [Route<RealmContext>] = [overview, activity]

    static let path = Place.accountPath

    private static let overview = AccountRoute.show(
        path, id: "showAccount", "Somebody's own account."
    ) { call, frame throws(Problem) in
        let say = frame.say
        let claims = try await call.claims(of: frame.account, ["email", "profile"])
        let passkeys = try await call.passkeys(of: frame.account).count
        let factor = try await call.twoFactor(of: frame.account)
        return frame.page(.overview, say("Your account", "Ihr Konto")) {
            Page.card {
                HTML.element(.h1) {
                    claims["given_name"]?.string.map { say("Hello, \($0)", "Hallo, \($0)") }
                        ?? say("Your account", "Ihr Konto")
                }
                HTML.element(.p, .class("soft break")) {
                    say("Signed in as ", "Angemeldet als ")
                    HTML.element(.strong) { Parts.address(claims["email"]?.string ?? "") }
                }
                visit(frame)
            }
            Page.card {
                HTML.element(.h2) { say("How you sign in", "Wie Sie sich anmelden") }
                HTML.element(.ul, .class("items")) {
                    item(
                        say("Passkeys", "Passkeys"),
                        passkeys == 0
                            ? say("None yet", "Noch keine")
                            : say("\(passkeys) ready", "\(passkeys) bereit"))
                    item(
                        say("Authenticator app", "Authenticator-App"),
                        factor.enrolled == nil ? say("Off", "Aus") : say("On", "An"))
                }
                HTML.element(.p, .class("links")) {
                    Parts.link(
                        say("Manage security", "Sicherheit verwalten"),
                        to: AccountFrame.Tab.security.rawValue)
                }
            }
        }
    }

    private static func visit(_ frame: AccountFrame) -> HTML {
        frame.visit.form("/logout") {
            Parts.button(frame.say("Sign out", "Abmelden"), look: "second short")
        }
    }

    private static func item(_ name: String, _ state: String) -> HTML {
        HTML.element(.li) {
            HTML.element(.span, .class("what")) { name }
            HTML.element(.span, .class("soft")) { state }
        }
    }

    private static let activity = AccountRoute.show(
        "/account/activity", id: "showActivity", "Who signed in to one's account, or tried to."
    ) { call, frame throws(Problem) in
        let say = frame.say
        let attempts = try await reading { () throws(LogFailure) in
            try await call.context.queries.loginHistory(
                of: call.context.place.realm, LoginSelection(account: frame.account),
                after: nil, limit: 50)
        }
        let apps = try await call.names(ofClients: attempts.compactMap(\.clientID))
        let followed = FirstSteps.followed(attempts)
        return frame.page(.activity) {
            Page.card {
                HTML.element(.h1) { say("Activity", "Aktivität") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "The latest sign-ins to your account. Is one of them not yours? Sign out everywhere, under Devices.",
                        "Die letzten Anmeldungen an Ihrem Konto. Ist eine nicht von Ihnen? Melden Sie sich unter „Geräte“ überall ab."
                    )
                }
                HTML.element(.ul, .class("items")) {
                    for attempt in attempts {
                        line(
                            attempt, app: attempt.clientID.flatMap { apps[$0] },
                            isFollowed: followed.contains(attempt.position), say)
                    }
                }
            }
        }
    }

    /// - Parameters:
    ///   - app: what somebody signed in to, where it was not a page of ours.
    ///   - isFollowed: it was the first of two steps, and the second one came.
    private static func line(
        _ attempt: LoginView, app: String?, isFollowed: Bool, _ say: Words
    ) -> HTML {
        // The server of a web application is no device that its people would know.
        let device = attempt.device ?? app ?? say("Unknown device", "Unbekanntes Gerät")
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { device }
                HTML.element(.span, .class("soft small")) {
                    way(attempt.method, say)
                    " · "
                    if let app, app != device {
                        app
                        " · "
                    }
                    say.moment(attempt.at)
                }
                if attempt.isRefused,
                    let why = isFollowed ? say.followedStep(attempt) : say.refusal(attempt)
                {
                    HTML.element(.span, .class("small")) { why }
                }
            }
            if isFollowed {
                HTML.element(.span, .class("badge")) { say("First step", "Erster Schritt") }
            } else if attempt.isRefused {
                HTML.element(.span, .class("badge bad")) { say("Refused", "Abgelehnt") }
            } else {
                HTML.element(.span, .class("badge")) { say("Signed in", "Angemeldet") }
            }
        }
    }

    static func way(_ method: String?, _ say: Words) -> String {
        switch method {
        case "email_code", "urn:cocoar:otp": say("Code by mail", "Code per E-Mail")
        case "email_link", "urn:cocoar:magic": say("Link by mail", "Link per E-Mail")
        case "passkey", "urn:cocoar:passkey": say("Passkey", "Passkey")
        case "owner_link": say("Link by mail", "Link per E-Mail")
        case "provider": say("Another sign-in", "Andere Anmeldung")
        case "passphrase", "owner_passphrase": say("Passphrase", "Passphrase")
        default: say("App", "App")
        }
    }
}
