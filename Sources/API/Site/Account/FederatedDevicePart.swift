internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The devices of the federation profile on which the person is signed in, on the page of their account.
struct FederatedDeviceLine {
    let device: FederatedDeviceView

    func line(_ frame: AccountFrame) -> HTML {
        let say = frame.say
        let name = device.name ?? say("Unknown device", "Unbekanntes Gerät")
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { name }
                Parts.facts(
                    HTML.element(.span) { device.system ?? device.version },
                    say.moment(device.signedInAt))
            }
            frame.visit.form("/account/devices/sign-out") {
                Parts.hidden("device", device.device.description)
                HTML.element(
                    .button, .type("submit"), .class("second"),
                    .label(say("Sign out: \(name)", "Abmelden: \(name)"))
                ) { say("Sign out", "Abmelden") }
            }
        }
    }
}

enum FederatedDevicePageRoutes {
    static let signOut = AccountRoute.change(
        "/account/devices/sign-out", id: "signOutFederatedDevice",
        "Signs the person out on a device of the federation profile.",
        [.optional("device", .text(0...64), "Device id.")], from: .sessions, isSensitive: false
    ) { call, frame throws(Problem) in
        guard let device = call.body["device"]?.string.flatMap({ UUID($0) }),
            try await FederatedDevices(call.context).disconnect(
                device, of: frame.account, by: Commands(call), as: .browser(frame.browser))
        else { throw Problem(.noSuchSession) }
        return .seeOther(.sessions, .signedOut)
    }
}
