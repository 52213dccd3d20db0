internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Pages on which an owner manages the apps that they authorized.
enum DevicePages {
    static let table: [Route<RealmContext>] = [exceeded, remove]

    static let path = "/settings/clients/limit-exceeded"
    private static let refusals = Page.refusals + [.forbidden]

    private static let exceeded = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: path), id: "showDeviceLimit", tag: "Flagship",
        summary: "Shows an owner with too many devices which to remove.",
        right: .nothing, voice: .page,
        parameters: [
            Parameter(
                "session_code", in: .query, .text(0...128),
                "Session code that signs the browser in."),
            Parameter("redirect", in: .query, .text(0...2048), "Page to return to."),
        ], answer: .page, refusals: refusals, traits: .isReturnTarget
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let redirect = call.text("redirect")
        let place = redirect.map { "\(path)?\(Form.encode([("redirect", $0)]))" } ?? path
        if let code = call.text("session_code"), !code.isEmpty {
            return try await call.signIn(bySessionCode: code, visit, place: place)
        }
        guard let browser = visit.browser else {
            return call.ownerSignsInFirst(place)
        }
        try await call.requireOwner(browser)
        let limit = call.context.place.settings[SettingCatalogue.installationLimit]
        let count = try await RealmLookups(call.context).folded(Owner.self, Owner.stream).devices
            .count
        guard limit > 0, count > limit else {
            return .seeOther(try await call.safeRedirect(redirect))
        }
        return try await call.deviceLimitPage(visit, next: place)
    }

    private static let remove = Route<RealmContext>(
        .post, "/account/devices/remove", id: "removeDevice", tag: "Flagship",
        summary: "Removes an app on a device.", right: .nothing, voice: .page,
        body: .page([
            .optional("client", .text(0...128), "OAuth client id of the installed app."),
            .optional("next", .text(0...4096), "Page to return to."),
        ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        guard let browser = visit.browser else {
            return call.ownerSignsInFirst("/account/sessions")
        }
        try await call.requireOwner(browser)
        if let (id, _) = try await call.installation(call.body["client"]?.string) {
            // A client that does not exist any more is as good as deleted.
            _ = try await Commands(call).attempt(DeleteClient(id: id), as: .browser(browser))
        }
        let next = call.body["next"]?.string.flatMap { ReturnPath($0) }?.text ?? ""
        let isOurs = [path, InstallationAuthorizeRoutes.path].contains { page in
            next == page || next.utf8.starts(with: "\(page)?".utf8)
        }
        return isOurs ? .seeOther(next) : .seeOther(.sessions, .accessRemoved)
    }
}

extension Call<RealmContext> {
    /// Whether one more app may be let in.
    func isFull() async throws(Problem) -> Bool {
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        return owner.isFull(context.place.settings)
    }

    func deviceLimitPage(_ visit: PageVisit, next: String) async throws(Problem) -> Response {
        let devices =
            try await OwnersDevices(context).devices(of: visit.browser?.subject ?? .zero) ?? []
        let limit = context.place.settings[SettingCatalogue.installationLimit]
        let say = visit.say
        return visit.page(say("Too many devices", "Zu viele Geräte"), isWide: true) {
            Page.card {
                HTML.element(.h1) { say("Too many devices", "Zu viele Geräte") }
                HTML.element(.p) {
                    say(
                        "You can use \(limit) devices. Remove one that you no longer need.",
                        "Sie können \(limit) Geräte nutzen. Entfernen Sie eines, das Sie nicht mehr brauchen."
                    )
                }
                HTML.element(.ul, .class("items")) {
                    for device in devices { device.line(visit, next: next) }
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(say("Try again", "Erneut versuchen"), to: next)
                }
            }
        }
    }

    /// A page of this site, or the place of an app that the realm knows: nothing else.
    fileprivate func safeRedirect(_ text: String?) async throws(Problem) -> String {
        let usual = "/account/sessions"
        guard let text, let parts = URLParts.parse(text), let host = parts.host,
            !parts.hasUserInfo
        else { return usual }
        let name = parts.port.map { "\(host):\($0)" } ?? host
        let domain = site.domain
        if name == domain, text.utf8.starts(with: "\(context.place.issuer)/".utf8) { return text }
        var app = try await context.ask(WebAppView.byOrigin, name)
        if app == nil, name.utf8.count > domain.utf8.count + 1, name.hasSuffix(".\(domain)") {
            let label = String(name.dropLast(domain.count + 1))
            app = try await context.ask(WebAppView.bySlug, (label, .app))
        }
        guard let app else { return usual }
        let address = webAppAddress(of: app)
        return text == address || text.utf8.starts(with: "\(address)/".utf8) ? text : usual
    }
}
