internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where one is signed in: browsers, and apps that have access.
enum SessionPageRoutes {
    static let table: [Route<RealmContext>] = [
        list, endBrowser, endApp, endAll, FederatedDevicePageRoutes.signOut,
        AppMethodRoutes.remove,
    ]

    private static let list = AccountRoute.show(
        "/account/sessions", id: "showSessions", "Shows the sessions of the account.",
        [browsersAfter, devicesAfter]
    ) { call, frame throws(Problem) in
        let say = frame.say
        let browsers = try await call.browsers(of: frame.account)
        let apps = try await call.connectedApps(of: frame.account)
        let devices = try await OwnersDevices(call.context).devices(of: frame.account)
        let federated = try await FederatedDevices(call.context).list(
            of: frame.account,
            FederatedPage(
                limit: most, after: call.text(devicesAfter.name).flatMap { UUID($0) }))
        let methods = try await call.appMethodLines(of: frame.account)
        return frame.page(.sessions, say("Devices and apps", "Geräte und Apps")) {
            Page.card {
                HTML.element(.h1) { say("Devices and apps", "Geräte und Apps") }
                HTML.element(.h2) { say("Browsers", "Browser") }
                HTML.element(.ul, .class("items")) {
                    for browser in browsers.prefix(most) { line(browser, frame) }
                }
                if browsers.count > most {
                    more(browsersAfter, after: browsers[most - 1].id, say)
                }
            }
            if let devices {
                Page.card {
                    HTML.element(.h2) { say("Your devices", "Ihre Geräte") }
                    if devices.isEmpty {
                        HTML.element(.p, .class("soft")) {
                            say("No devices yet.", "Noch keine Geräte.")
                        }
                    } else {
                        HTML.element(.ul, .class("items")) {
                            for device in devices { device.line(frame.visit, next: nil) }
                        }
                    }
                }
            }
            if !federated.items.isEmpty {
                Page.card {
                    HTML.element(.h2) { say("Your devices", "Ihre Geräte") }
                    HTML.element(.ul, .class("items")) {
                        for device in federated.items {
                            FederatedDeviceLine(device: device).line(frame)
                        }
                    }
                    if let next = federated.next { more(devicesAfter, after: next, say) }
                }
            }
            if !methods.isEmpty {
                Page.card {
                    HTML.element(.h2) { say("Signing in within apps", "Anmelden in Apps") }
                    HTML.element(.ul, .class("items")) {
                        for method in methods { method.line(frame) }
                    }
                }
            }
            Page.card {
                HTML.element(.h2) { say("Connected apps", "Verbundene Apps") }
                if apps.isEmpty {
                    HTML.element(.p, .class("soft")) {
                        say(
                            "No app has access to your account.",
                            "Keine App hat Zugriff auf Ihr Konto.")
                    }
                } else {
                    HTML.element(.ul, .class("items")) {
                        for app in apps { app.line(frame.visit) }
                    }
                }
            }
            Page.card {
                HTML.element(.h2) { say("Sign out everywhere", "Überall abmelden") }
                HTML.element(.p, .class("soft")) {
                    say(
                        "Signs out all browsers and apps, including this one.",
                        "Meldet alle Browser und Apps ab, auch diesen.")
                }
                frame.visit.form("/account/sessions/end-all") {
                    Parts.button(
                        say("Sign out everywhere", "Überall abmelden"), look: "danger short")
                }
            }
        }
    }

    /// So many browsers, and so many devices, are on one page.
    fileprivate static let most = 100

    fileprivate static let browsersAfter = Parameter(
        "browsers", in: .query, .text(0...64), "Last browser of the previous page.")
    private static let devicesAfter = Parameter(
        "devices", in: .query, .text(0...64), "Last device of the previous page.")

    private static func more(_ list: Parameter, after last: UUID, _ say: LocalizedText) -> HTML {
        HTML.element(.p, .class("links")) {
            Parts.link(
                say("Earlier ones", "Frühere"), to: "/account/sessions?\(list.name)=\(last)")
        }
    }

    private static func line(_ session: BrowserSessionView, _ frame: AccountFrame) -> HTML {
        let say = frame.say
        let device = session.terms.from.device ?? say("Unknown device", "Unbekanntes Gerät")
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { device }
                Parts.facts(
                    HTML.element(.span) {
                        OverviewRoutes.way(session.terms.method.rawValue, say)
                    }, say.moment(session.terms.openedAt))
            }
            if session.id == frame.browser.id {
                HTML.element(.span, .class("badge")) { say("This browser", "Dieser Browser") }
            } else {
                frame.visit.form("/account/sessions/end") {
                    Parts.hidden("session", session.id.description)
                    HTML.element(
                        .button, .type("submit"), .class("second"),
                        .label(say("Sign out: \(device)", "Abmelden: \(device)"))
                    ) { say("Sign out", "Abmelden") }
                }
            }
        }
    }

    private static let endBrowser = AccountRoute.change(
        "/account/sessions/end", id: "endBrowserSession", "Signs another browser out.",
        [.optional("session", .text(0...64), "Id of the session to end.")], from: .sessions,
        isSensitive: false
    ) { call, frame throws(Problem) in
        guard let session = call.body["session"]?.string.flatMap({ UUID($0) }) else {
            throw Problem(.noSuchSession)
        }
        try await Commands(call).dispatch(
            EndBrowserSession(session: session, reason: .revoked, of: frame.account),
            as: .browser(frame.browser))
        let ended = try await call.context.ask(BrowserSessionView.byID, session)
        let line = ended?.terms.line ?? session
        for end in try await SessionEnds(call).successors(
            of: session, on: line, of: frame.account)
        {
            try await Commands(call).dispatch(end, as: .browser(frame.browser))
        }
        try await SessionEnds(call).endSessions(
            of: frame.account, from: line, by: .browser(frame.browser))
        return .seeOther(.sessions, .signedOut)
    }

    private static let endApp = AccountRoute.change(
        "/account/apps/end", id: "endAppAccess", "Ends an app's access to the account.",
        [.optional("client", .text(0...255), "OAuth client id of the app whose access ends.")],
        from: .sessions,
        isSensitive: false
    ) { call, frame throws(Problem) in
        let clientID = call.body["client"]?.string ?? ""
        try await call.withdrawConsent(to: clientID, by: frame.browser)
        // One that is gone has no access left.
        if let client = try await RealmLookups(call.context).client(named: clientID) {
            try await Commands(call).dispatch(
                RemoveAccess(of: frame.account, at: .client(client.id)),
                as: .browser(frame.browser))
        }
        return .seeOther(.sessions, .accessRemoved)
    }

    private static let endAll = AccountRoute.change(
        "/account/sessions/end-all", id: "signOutEverywhere", "Ends all of one's sessions.",
        from: .sessions, isSensitive: false
    ) { call, frame throws(Problem) in
        try await Commands(call).dispatch(
            RotateSecurityStamp(account: frame.account, mail: call.context.newID()),
            as: .browser(frame.browser))
        var response = Response.seeOther("/logged-out")
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }
}

extension Call<RealmContext> {
    /// A page of them, newest first, and one more where there are more.
    fileprivate func browsers(of account: UUID) async throws(Problem) -> [BrowserSessionView] {
        let after = text(SessionPageRoutes.browsersAfter.name).flatMap { UUID($0) }
        return try await context.ask(
            BrowserSessionView.ofAccount,
            (account, context.clock.now(), after, SessionPageRoutes.most + 1))
    }

    /// Withdraws the user's consent, so that codes already issued are invalidated.
    fileprivate func withdrawConsent(to clientID: String, by browser: SignedInBrowser)
        async throws(Problem)
    {
        for consent in try await RealmLookups(context).consents(of: browser.subject)
        where consent.given.clientID == clientID {
            try await Commands(self).dispatch(
                ConsentChange.withdraw(consent.id, account: browser.subject),
                as: .browser(browser))
        }
    }
}
