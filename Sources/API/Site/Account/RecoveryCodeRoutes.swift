internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

/// The page of new recovery codes. The log keeps their digests alone, so they stand in its address:
/// sealed under the realm's key, for some minutes, and for the very sign-in that made them. So a
/// reload shows them again, and a user who comes too late is told how to get others.
enum RecoveryCodeRoutes {
    static let table: [Route<RealmContext>] = [show]

    private static let path = "/account/authenticator/codes"
    /// Seconds for which the page with new recovery codes can be reloaded.
    private static let patience: Int64 = 600

    /// Where the codes are shown that were just made.
    static func place(
        of codes: [RecoveryCode], _ call: Call<RealmContext>, _ frame: AccountFrame
    ) throws(Problem) -> String {
        let until = call.context.clock.now().adding(seconds: patience)
        let members: JSONObject = [
            "codes": .array(codes.map { .string($0.text) }),
            "browser": .string(frame.browser.id.description), "until": .integer(until.seconds),
        ]
        guard let sealed = call.context.mint.seal(.object(members), for: .recoveryCodes) else {
            throw Problem(.internalError)
        }
        return "\(path)?kept=\(sealed)"
    }

    /// The page without any: what was made is made.
    static var placeWithout: String { path }

    private static let show = AccountRoute.show(
        path, id: "showRecoveryCodes", "Recovery codes that were just made.",
        [Parameter("kept", in: .query, .text(0...2048), "Sealed recovery codes.")]
    ) { call, frame throws(Problem) in
        if let codes = kept(call, frame) { return shown(codes, frame) }
        let factor = try await SecondFactors(call).state(of: frame.account)
        guard factor.enrolled != nil else {
            return .seeOther(AccountFrame.Tab.security.rawValue)
        }
        return over(frame)
    }

    private static func kept(_ call: Call<RealmContext>, _ frame: AccountFrame) -> [String]? {
        guard let text = call.text("kept"),
            let members = call.context.mint.unseal(text, for: .recoveryCodes)?.object,
            let codes = members["codes"]?.array?.compactMap(\.string),
            members["browser"]?.string == frame.browser.id.description,
            let until = members["until"]?.integer, call.context.clock.now().seconds < until
        else { return nil }
        return codes
    }

    private static func shown(_ codes: [String], _ frame: AccountFrame) -> Response {
        let say = frame.say
        return frame.page(.security, say("Recovery codes", "Wiederherstellungscodes")) {
            Page.card {
                HTML.element(.h1) {
                    say("Your recovery codes", "Ihre Wieder\u{AD}herstellungs\u{AD}codes")
                }
                HTML.element(.p) {
                    say(
                        "Save them in a safe place. Each one works once, when you don't have your app. They are shown only now.",
                        "Bewahren Sie sie sicher auf. Jeder gilt einmal, wenn Sie die App nicht zur Hand haben. Sie werden nur jetzt gezeigt."
                    )
                }
                HTML.element(.ul, .class("codes")) {
                    for code in codes { HTML.element(.li) { code } }
                }
                Parts.link(
                    say("I've saved these codes", "Ich habe diese Codes gespeichert"),
                    to: AccountFrame.Tab.security.rawValue, look: "button")
            }
        }
    }

    private static func over(_ frame: AccountFrame) -> Response {
        let say = frame.say
        return frame.page(.security, say("Recovery codes", "Wiederherstellungscodes")) {
            Page.card {
                HTML.element(.h1) {
                    say(
                        "Your authenti\u{AD}cator app is on",
                        "Ihre Authenti\u{AD}cator-App ist ein\u{AD}geschaltet")
                }
                HTML.element(.p) {
                    say(
                        "Your recovery codes are no longer shown. If you didn't save them, create new ones under Security.",
                        "Die Wiederherstellungscodes werden nicht mehr gezeigt. Haben Sie sie nicht gespeichert, erstellen Sie unter „Sicherheit“ neue."
                    )
                }
                Parts.link(
                    say("Back to Security", "Zurück zu „Sicherheit“"),
                    to: AccountFrame.Tab.security.rawValue, look: "button")
            }
        }
    }
}
