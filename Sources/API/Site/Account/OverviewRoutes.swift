internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The first page of the user's own account, and its history.
enum OverviewRoutes {
    static let table: [Route<RealmContext>] = [overview, activity]

    static let path = Place.accountPath

    private static let overview = AccountRoute.show(
        path, id: "showAccount", "The account of the person who is signed in."
    ) { call, frame throws(Problem) in
        let say = frame.say
        let claims = try await PersonClaims(call.context).claims(
            of: frame.account, ["email", "phone", "profile"])
        let passkeys = try await RealmLookups(call.context).passkeys(of: frame.account).count
        let factor = try await SecondFactors(call).state(of: frame.account)
        return frame.page(.overview, say("Your account", "Ihr Konto")) {
            Page.card {
                HTML.element(.h1) {
                    claims["given_name"]?.string.map { say("Hello, \($0)", "Hallo, \($0)") }
                        ?? say("Your account", "Ihr Konto")
                }
                HTML.element(.p, .class("soft break")) {
                    say("Signed in as ", "Angemeldet als ")
                    HTML.element(.strong) {
                        Parts.address((claims["email"] ?? claims["phone_number"])?.string ?? "")
                    }
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

    private static let mostAttempts = 50

    private static let activity = AccountRoute.show(
        "/account/activity", id: "showActivity", "Sign-ins to the account, and attempts."
    ) { call, frame throws(Problem) in
        let say = frame.say
        let attempts = try await call.context.ask(
            LoginView.history,
            (LoginSelection(account: frame.account), after: nil, limit: mostAttempts))
        let apps = try await call.names(ofClients: attempts.compactMap(\.clientID))
        let followed = FirstSteps.followed(attempts)
        // Of the time that the attempts are of: the list ends where they end.
        let start = attempts.count < mostAttempts ? 0 : attempts.last?.position ?? 0
        let uses = try await call.recoveryCodeUses(of: frame.account)
            .filter { $0.position >= start }
        let lines: [(Int64, HTML)] =
            uses.map { ($0.position, $0.line(say)) }
            + attempts.map { attempt in
                (
                    attempt.position,
                    line(
                        attempt, app: attempt.clientID.flatMap { apps[$0] },
                        isFollowed: followed.contains(attempt.position), say)
                )
            }
        return frame.page(.activity) {
            Page.card {
                HTML.element(.h1) { say("Activity", "Aktivität") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "Recent sign-ins to your account. Don't recognise one? ",
                        "Die letzten Anmeldungen an Ihrem Konto. Eine davon kennen Sie nicht? ")
                    Parts.link(
                        say("Secure your account", "Konto absichern"),
                        to: AccountFrame.Tab.sessions.rawValue)
                }
                HTML.element(.ul, .class("items")) {
                    for line in lines.sorted(by: { $0.0 > $1.0 }) { line.1 }
                }
            }
        }
    }

    /// - Parameters:
    ///   - app: what the user signed in to, where it was not a page of ours.
    ///   - isFollowed: it was the first of two steps, and the second one came.
    private static func line(
        _ attempt: LoginView, app: String?, isFollowed: Bool, _ say: LocalizedText
    ) -> HTML {
        // The server of a web application is no device that its people would know.
        let device = attempt.device ?? app ?? say("Unknown device", "Unbekanntes Gerät")
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { device }
                Parts.facts(
                    HTML.element(.span) { way(attempt.method, say) },
                    app == device ? nil : app.map { app in HTML.element(.span) { app } },
                    say.moment(attempt.at))
                if attempt.isRefused,
                    let why = isFollowed ? say.followedStep(attempt) : say.refusal(attempt)
                {
                    HTML.element(.span, .class("small")) { why }
                }
            }
            if isFollowed {
                HTML.element(.span, .class("badge")) { say("Step 1 of 2", "Schritt 1 von 2") }
            } else if attempt.isRefused {
                HTML.element(.span, .class("badge bad")) { say("Failed", "Fehlgeschlagen") }
            } else {
                HTML.element(.span, .class("badge")) { say("Signed in", "Angemeldet") }
            }
        }
    }

    static func way(_ method: String?, _ say: LocalizedText) -> String {
        switch method {
        case "email_code", "urn:cocoar:otp": say("Code by e-mail", "Code per E-Mail")
        case "phone_code": say("Code to a phone", "Code an ein Telefon")
        case "email_link", "urn:cocoar:magic": say("Link by e-mail", "Link per E-Mail")
        case "passkey", "urn:cocoar:passkey": say("Passkey", "Passkey")
        case "owner_link": say("Link by e-mail", "Link per E-Mail")
        case "provider": say("Connected account", "Verbundenes Konto")
        case "app_pin": say("PIN in an app", "PIN in einer App")
        case "app_key": say("Key of a device", "Schlüssel eines Geräts")
        case "passphrase", "owner_passphrase": say("Passphrase", "Passphrase")
        default: say("App", "App")
        }
    }
}
