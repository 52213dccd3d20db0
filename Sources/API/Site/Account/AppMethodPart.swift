internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A device's key or the PIN with which the person signs in within a tenant's apps, on the page of their account.
struct AppMethodLine {
    let view: AppMethodView
    /// What people know the tenant by.
    let app: String
    let device: String?

    func line(_ frame: AccountFrame) -> HTML {
        let say = frame.say
        let name = view.key == nil ? "PIN" : device ?? say("Unknown device", "Unbekanntes Gerät")
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { name }
                Parts.facts(HTML.element(.span) { app }, say.moment(view.enrolledAt))
            }
            frame.visit.form("/account/methods/remove") {
                Parts.hidden("owner", view.owner.description)
                if let key = view.key { Parts.hidden("key", key.description) }
                HTML.element(
                    .button, .type("submit"), .class("second"),
                    .label(say("Remove: \(name), \(app)", "Entfernen: \(name), \(app)"))
                ) { say("Remove", "Entfernen") }
            }
        }
    }
}

enum AppMethodRoutes {
    static let remove = AccountRoute.change(
        "/account/methods/remove", id: "removeAppMethodOnPage",
        "Removes a device's key or the PIN with which the person signs in within a tenant's apps.",
        [
            .optional("owner", .text(0...64), "Stream id of the person's methods in these apps."),
            .optional("key", .text(0...64), "Key id; left out for the PIN."),
        ], from: .sessions
    ) { call, frame throws(Problem) in
        let shown = call.body["owner"]?.string.flatMap { UUID($0) }
        let key = call.body["key"]?.string.flatMap { UUID($0) }
        let all = try await RealmLookups(call.context).appMethods(of: frame.account)
        guard let found = all.first(where: { $0.owner == shown && $0.key == key }) else {
            throw Problem(.noSuchDevice)
        }
        let refusal = try await Commands(call).attempt(
            RemoveTenantMethod(
                owner: MethodOwner(
                    account: frame.account, client: found.client, stream: found.owner),
                key: key, session: call.signedIn(frame.browser), now: call.context.clock.now()),
            as: .browser(frame.browser))
        switch refusal {
        case nil, .notEnrolled?: return .seeOther(.sessions, .methodRemoved)
        case .signInTooOld(let limit)?: throw .signInTooOld(limit)
        case _?: throw Problem(.forbidden)
        }
    }
}

extension Call<RealmContext> {
    /// The person's device keys and PINs within the apps of all tenants, with what the apps call the devices.
    func appMethodLines(of account: UUID) async throws(Problem) -> [AppMethodLine] {
        let views = try await RealmLookups(context).appMethods(of: account)
        var lines: [AppMethodLine] = []
        var kept: [UUID: TenantMethods] = [:]
        var names: [UUID: String] = [:]
        for view in views {
            if kept[view.owner] == nil {
                kept[view.owner] = try await RealmLookups(context).folded(
                    TenantMethods.self, view.owner)
                let client = try await RealmLookups(context).folded(Client.self, view.client)
                names[view.client] = client.metadata?.clientName ?? client.clientID
            }
            let key = view.key.flatMap { kept[view.owner]?.key($0) }
            lines.append(
                AppMethodLine(
                    view: view, app: names[view.client] ?? "?",
                    device: key?.deviceName ?? key?.deviceType))
        }
        return lines
    }
}
