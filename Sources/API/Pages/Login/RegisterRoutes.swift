internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

/// Where people join, as far as the realm lets them. What proves that they may is a code by mail, so
/// that nobody learns here who has an account already.
enum RegisterRoutes {
    static let table: [Route<RealmContext>] = [show, begin]

    private static let show = Route<RealmContext>(
        .get, "/register", id: "showRegistration", tag: "Pages", summary: "The page to join on.",
        right: .nothing, dialect: .page, parameters: Onward.parameters, answer: .page,
        refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await call.visit()
        return try RegisterPage(call, visit).response()
    }

    private static let begin = Route<RealmContext>(
        .post, "/register", id: "beginRegistration", tag: "Pages",
        summary: "Has a code mailed to whoever wants to join.", right: .nothing, dialect: .page,
        parameters: Onward.parameters,
        body: .page(
            Onward.members + [
                .optional("email", .text(0...320), "The mail address."),
                .optional("first_name", .text(0...400), "The first name."),
                .optional("last_name", .text(0...400), "The last name."),
                .optional("invite", .text(0...100), "The invite code."),
            ]), answer: .page, refusals: LoginRoutes.refusals
    ) { call throws(Problem) in
        let visit = try await call.submission()
        var page = try RegisterPage(call, visit)
        page.read(call)
        guard let address = call.typedAddress(), page.isWhole else {
            page.isIncomplete = true
            return page.response(.badRequest)
        }
        async let pause: Void = call.context.hesitate()
        try call.count(.nativeOTP, target: call.context.mint.mailbox(address).description)
        let person = Person(
            email: address, firstName: page.firstName, lastName: page.lastName,
            language: call.readersLanguage)
        do throws(Problem) {
            try await call.mailCode(
                page.posture == .explicitEndpoint ? .registration : .signIn, person,
                invite: InviteCode(typed: page.invite), mayJoin: true)
        } catch {
            guard error.kind == .invalidField else { throw error }
            page.isIncomplete = true
            return page.response(.badRequest)
        }
        await pause
        return .seeOther(
            try call.place(
                of: CodeAddress(email: address, canResend: false), visit, page.onward))
    }
}

struct RegisterPage {
    let visit: Visit
    let onward: Onward
    let posture: RegistrationPosture
    private let firstDemand: FieldDemand
    private let lastDemand: FieldDemand
    private var email = ""
    private(set) var firstName: String?
    private(set) var lastName: String?
    private(set) var invite = ""
    var isIncomplete = false

    /// Throws where nobody joins on a page.
    init(_ call: Call<RealmContext>, _ visit: Visit) throws(Problem) {
        let settings = call.context.place.settings
        posture = settings[SettingCatalogue.registration]
        guard posture.hasPage, settings.offers(.code) else { throw Problem(.noSuchRoute) }
        firstDemand = settings[SettingCatalogue.registrationFirstName]
        lastDemand = settings[SettingCatalogue.registrationLastName]
        self.visit = visit
        onward = Onward(call)
    }

    mutating func read(_ call: Call<RealmContext>) {
        func text(_ name: String) -> String? {
            call.body[name]?.string.map(trimmed).flatMap { $0.isEmpty ? nil : $0 }
        }
        email = text("email") ?? ""
        firstName = firstDemand == .off ? nil : text("first_name")
        lastName = lastDemand == .off ? nil : text("last_name")
        invite = posture == .inviteCode ? text("invite") ?? "" : ""
    }

    /// Whether all is there that is asked for.
    var isWhole: Bool {
        (firstDemand != .required || firstName != nil)
            && (lastDemand != .required || lastName != nil)
            && (posture != .inviteCode || InviteCode(typed: invite) != nil)
    }

    func response(_ status: Status = .ok) -> Response {
        let say = visit.say
        return visit.page(
            say("Create an account", "Konto anlegen"), status: status,
            leadsAway: onward.sealed != nil
        ) {
            Page.card {
                HTML.element(.h1) { say("Create an account", "Konto anlegen") }
                Parts.note(
                    .bad,
                    isIncomplete
                        ? say(
                            "Something is missing or cannot be right. Please look again.",
                            "Etwas fehlt oder kann nicht stimmen. Bitte sehen Sie noch einmal nach."
                        )
                        : nil)
                visit.form(onward.link("/register")) {
                    onward.fields
                    Field(
                        name: "email", label: say("E-mail address", "E-Mail-Adresse"),
                        type: "email", value: email, autocomplete: "email", isFocused: true
                    ).html
                    name("first_name", say("First name", "Vorname"), firstName, firstDemand)
                    name("last_name", say("Last name", "Nachname"), lastName, lastDemand)
                    if posture == .inviteCode {
                        Field(
                            name: "invite", label: say("Invite code", "Einladungscode"),
                            value: invite, limit: 40,
                            hint: say(
                                "It stands in your invitation.", "Er steht in Ihrer Einladung.")
                        ).html
                    }
                    Parts.button(say("Continue", "Weiter"))
                }
                HTML.element(.p, .class("links")) {
                    HTML.element(.span, .class("soft")) {
                        say("Have an account?", "Schon ein Konto?")
                    }
                    Parts.link(say("Sign in", "Anmelden"), to: onward.link("/login"))
                }
            }
        }
    }

    private func name(
        _ name: String, _ label: String, _ value: String?, _ demand: FieldDemand
    ) -> HTML? {
        guard demand != .off else { return nil }
        return Field(
            name: name,
            label: demand == .required ? label : label + visit.say(" (optional)", " (freiwillig)"),
            value: value ?? "",
            autocomplete: name == "first_name" ? "given-name" : "family-name",
            isRequired: demand == .required, limit: 100
        ).html
    }
}
