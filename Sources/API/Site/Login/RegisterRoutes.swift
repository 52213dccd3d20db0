internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

/// Where people join, as far as the realm lets them. The proof is a code, against account
/// enumeration.
enum RegisterRoutes {
    static let table: [Route<RealmContext>] = [show, begin]

    private static let show = Route<RealmContext>(
        .get, "/register", id: "showRegistration", tag: "Pages",
        summary: "Shows the registration page.",
        right: .nothing, voice: .page, parameters: ReturnTarget.parameters, answer: .page,
        refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        return try RegisterPage(call, visit).response()
    }

    private static let begin = Route<RealmContext>(
        .post, "/register", id: "beginRegistration", tag: "Pages",
        summary: "Sends a code to register with.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [
                .optional("email", .text(0...320), "Mail address or phone number."),
                .optional("first_name", .text(0...400), "First name."),
                .optional("last_name", .text(0...400), "Last name."),
                .optional("invite", .text(0...100), "Invite code."),
                CodeAddress.member,
            ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        var page = try RegisterPage(call, visit)
        page.read(call)
        let typed = PageRequest(call).typedSignInAddress()
        page.look(at: typed)
        guard let address = typed, page.isWhole else { return page.response(.badRequest) }
        async let pause: Void = call.context.hesitate()
        if let early = call.tooSoon(for: address.text, visit) {
            return .seeOther(try call.place(of: early, visit, page.returnTarget))
        }
        do throws(Problem) {
            try RateCounter(call).countCode(
                to: address, call.context.mint.mailbox(address.text))
        } catch {
            return try call.codePage(
                after: error, for: address.text, visit, page.returnTarget,
                newcomer: page.newcomer)
        }
        var person = address.person(language: PageRequest(call).readersLanguage)
        (person.firstName, person.lastName) = (page.firstName, page.lastName)
        do throws(Problem) {
            try await BrowserSignIns(call).sendCode(
                page.posture == .explicitEndpoint ? .registration : .signIn, person,
                by: address.channel(call.context.place.settings),
                invite: InviteCode(typed: page.invite), mayJoin: true)
        } catch {
            guard error.kind == .invalidField, let field = error.field,
                let input = RegisterPage.Input(rawValue: field)
            else { throw error }
            page.faults[input] = .unfit
            return page.response(.badRequest)
        }
        await pause
        var sent = call.sent(to: address.text, visit)
        sent.newcomer = page.newcomer
        return .seeOther(try call.place(of: sent, visit, page.returnTarget))
    }
}

struct RegisterPage {
    /// Its fields, in their order.
    enum Input: String, CaseIterable {
        case email
        case firstName = "first_name"
        case lastName = "last_name"
        case invite
    }

    enum Fault { case missing, unfit }

    let visit: PageVisit
    let returnTarget: ReturnTarget
    let posture: RegistrationPosture
    private let firstDemand: FieldDemand
    private let lastDemand: FieldDemand
    private let settings: Settings
    private var email = ""
    private(set) var firstName: String?
    private(set) var lastName: String?
    private(set) var invite = ""
    var faults: [Input: Fault] = [:]

    /// Throws where the realm has no registration page.
    init(_ call: Call<RealmContext>, _ visit: PageVisit) throws(Problem) {
        let settings = call.context.place.settings
        posture = settings[SettingCatalogue.registration]
        guard posture.hasPage, settings.offers(.code) else { throw Problem(.noSuchRoute) }
        firstDemand = settings[SettingCatalogue.registrationFirstName]
        lastDemand = settings[SettingCatalogue.registrationLastName]
        self.settings = settings
        self.visit = visit
        returnTarget = ReturnTarget(call)
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

    /// Finds all missing or invalid fields at once.
    mutating func look(at address: SignInAddress?) {
        if address == nil { faults[.email] = email.isEmpty ? .missing : .unfit }
        let names = [
            (Input.firstName, firstName, firstDemand), (.lastName, lastName, lastDemand),
        ]
        for (input, name, demand) in names {
            guard let name else {
                if demand == .required { faults[input] = .missing }
                continue
            }
            if !Person.canBeCalled(name) { faults[input] = .unfit }
        }
        if posture == .inviteCode, InviteCode(typed: invite) == nil {
            faults[.invite] = invite.isEmpty ? .missing : .unfit
        }
    }

    var newcomer: CodeAddress.RegistrationDetails {
        .init(
            firstName: firstName, lastName: lastName, invite: invite.isEmpty ? nil : invite)
    }

    /// Whether all required fields are there.
    var isWhole: Bool { faults.isEmpty }

    private var takesPhones: Bool { settings[SettingCatalogue.phoneSignIn] }

    private func said(of input: Input) -> String? {
        let say = visit.say
        switch (input, faults[input]) {
        case (_, nil): return nil
        case (.email, _): return say.whatIsWrong(with: email, settings)
        case (.firstName, .missing):
            return say("Enter your first name.", "Geben Sie Ihren Vornamen ein.")
        case (.lastName, .missing):
            return say("Enter your last name.", "Geben Sie Ihren Nachnamen ein.")
        case (.firstName, .unfit), (.lastName, .unfit): return say.unfitName
        case (.invite, .missing):
            return say("Enter your invite code.", "Geben Sie Ihren Einladungscode ein.")
        case (.invite, .unfit):
            return say(
                "That invite code is wrong. Check your invitation.",
                "Dieser Einladungscode ist falsch. Prüfen Sie Ihre Einladung.")
        }
    }

    /// With what is wrong with it, and with the focus where it is the first of which that is to be said.
    private func looked(at input: Input, _ field: Field) -> HTML {
        var field = field
        field.wrong = said(of: input)
        field.yieldsFocus = input != (Input.allCases.first { faults[$0] != nil } ?? .email)
        return field.html
    }

    func response(_ status: Status = .ok) -> Response {
        let say = visit.say
        return visit.page(
            say("Create an account", "Konto anlegen"), status: status,
            leadsAway: returnTarget.sealed != nil
        ) {
            Page.card {
                HTML.element(.h1) { say("Create an account", "Konto anlegen") }
                visit.form(returnTarget.link("/register")) {
                    returnTarget.fields
                    looked(
                        at: .email,
                        Field(
                            name: "email", label: say.signInAddress(takesPhones),
                            type: takesPhones ? "text" : "email", value: email,
                            autocomplete: takesPhones ? "username" : "email", isFocused: true))
                    name(.firstName, say("First name", "Vorname"), firstName, firstDemand)
                    name(.lastName, say("Last name", "Nachname"), lastName, lastDemand)
                    if posture == .inviteCode {
                        looked(
                            at: .invite,
                            Field(
                                name: "invite", label: say("Invite code", "Einladungscode"),
                                value: invite, limit: 40,
                                hint: say(
                                    "You find it in your invitation.",
                                    "Sie finden ihn in Ihrer Einladung.")))
                    }
                    Parts.button(say("Continue", "Weiter"))
                }
                HTML.element(.p, .class("links")) {
                    HTML.element(.span, .class("soft")) {
                        say("Have an account?", "Schon ein Konto?")
                    }
                    Parts.link(say("Sign in", "Anmelden"), to: returnTarget.link("/login"))
                }
            }
        }
    }

    private func name(
        _ input: Input, _ label: String, _ value: String?, _ demand: FieldDemand
    ) -> HTML? {
        guard demand != .off else { return nil }
        return looked(
            at: input,
            Field(
                name: input.rawValue,
                label: demand == .required
                    ? label : label + visit.say(" (optional)", " (freiwillig)"),
                value: value ?? "",
                autocomplete: input == .firstName ? "given-name" : "family-name",
                isRequired: demand == .required, limit: 100))
    }
}
