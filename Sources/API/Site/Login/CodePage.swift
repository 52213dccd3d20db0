internal import HTML
internal import HTTP
internal import Identity

/// Where a code is typed: the one that was mailed, and after it one of the authenticator app.
struct CodePage {
    enum Step {
        case code(isWrong: Bool)
        case second(code: String, isWrong: Bool)
    }

    let visit: PageVisit
    let returnTarget: ReturnTarget
    let address: CodeAddress
    /// The page's own path, and its sealed target.
    let place: String
    private let sealed: String
    private let words: CodeWords
    var step = Step.code(isWrong: false)

    init(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ returnTarget: ReturnTarget,
        _ address: CodeAddress
    ) throws(Problem) {
        self.visit = visit
        self.returnTarget = returnTarget
        self.address = address
        var still = address
        (still.isTooSoon, still.isAnother) = (false, false)
        sealed = try call.seal(still, visit)
        place = returnTarget.link(address.page.rawValue, [("to", sealed)])
        words = CodeWords(call, address, visit.say)
    }

    private var say: LocalizedText { visit.say }

    func response(_ status: Status = .ok) -> Response {
        switch step {
        case .code(let isWrong): codePage(isWrong, status)
        case .second(let code, let isWrong):
            SecondFactorPage.response(
                visit, isWrong, status, action: place, leadsAway: returnTarget.sealed != nil
            ) {
                returnTarget.fields
                Parts.hidden("email", address.email)
                Parts.hidden("code", code)
            }
        }
    }

    private func codePage(_ isWrong: Bool, _ status: Status) -> Response {
        visit.page(
            say("Enter the code", "Code eingeben"), status: status,
            leadsAway: returnTarget.sealed != nil
        ) {
            Page.card {
                HTML.element(.h1) {
                    address.isPhone
                        ? say("Check your phone", "Telefon prüfen")
                        : say("Check your e-mail", "Posteingang prüfen")
                }
                HTML.element(.p) {
                    say("If you can sign in with ", "Falls Sie sich mit ")
                    HTML.element(.strong, .class("break")) { Parts.address(address.email) }
                    say(
                        ", a 6-digit code is on its way to you.",
                        " anmelden können, ist ein sechsstelliger Code unterwegs zu Ihnen.")
                }
                Parts.note(.good, words.asked)
                visit.form(place) {
                    returnTarget.fields
                    Parts.hidden("email", address.email)
                    words.field(isWrong: isWrong).html
                    Parts.button(say("Sign in", "Anmelden"))
                }
                HTML.element(.div, .class("links")) {
                    anotherCode
                    Parts.link(
                        say("Use another address", "Andere Adresse verwenden"),
                        to: returnTarget.link("/login"))
                }
            }
        }
    }

    /// The form of the page that asked for this one.
    private var anotherCode: HTML {
        visit.form(returnTarget.link(address.newcomer == nil ? "/login" : "/register")) {
            returnTarget.fields
            Parts.hidden("email", address.email)
            Parts.hidden("to", sealed)
            for field in address.newcomer?.fields ?? [] { Parts.hidden(field.name, field.value) }
            Parts.button(
                say("Send a new code", "Neuen Code senden"),
                name: address.newcomer == nil ? "by" : nil, value: BrowserMethod.code.rawValue,
                look: "plain")
        }
    }

    static func linkMailed(_ visit: PageVisit, _ returnTarget: ReturnTarget, _ email: String)
        -> Response
    {
        let say = visit.say
        return visit.page(say("Check your e-mail", "Posteingang prüfen")) {
            Page.card {
                HTML.element(.h1) { say("Check your e-mail", "Posteingang prüfen") }
                HTML.element(.p) {
                    say("If you can sign in with ", "Falls Sie sich mit ")
                    HTML.element(.strong, .class("break")) { Parts.address(email) }
                    say(
                        ", a link is on its way to you. Open it on this device.",
                        " anmelden können, ist ein Link unterwegs zu Ihnen. Öffnen Sie ihn auf diesem Gerät."
                    )
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(
                        say("Use another address", "Andere Adresse verwenden"),
                        to: returnTarget.link("/login"))
                }
            }
        }
    }
}
