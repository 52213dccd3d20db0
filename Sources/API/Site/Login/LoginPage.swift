internal import HTML
internal import HTTP
internal import Identity

/// The page to sign in on, with the ways that are open.
struct LoginPage {
    let visit: PageVisit
    let returnTarget: ReturnTarget
    let settings: Settings
    private let hasPasskeys: Bool
    var email = ""
    var wrongEmail: String?
    /// The application that asks, if one does.
    var asked: ApplicationRequest?
    /// Where it asks for more than one factor.
    var stepUp: StepUpForm?
    /// The OpenID providers of the realm.
    var providers: [ProviderLabel] = []
    /// The signed-in user, where they are to sign in once more.
    var signedInAs: String?
    /// The person has nothing yet that the application asks for.
    var lacksStrongFactor = false
    var wrongPassphrase: String?
    /// The address of the reset page for a forgotten passphrase, with the mail address that was
    /// typed.
    var forgotten: String?
    /// The message of a failed step that led back to this page.
    var notice: String?
    /// The address of an account that moved to it just now, or has another passphrase.
    var settled: CodeAddress?

    init(_ call: Call<RealmContext>, _ visit: PageVisit, _ returnTarget: ReturnTarget) {
        self.visit = visit
        self.returnTarget = returnTarget
        settings = call.context.place.settings
        hasPasskeys =
            settings.offers(.passkey) && PasskeyParty(settings, chosenBy: nil) != nil
    }

    private var say: LocalizedText { visit.say }

    func response(_ status: Status = .ok) -> Response {
        visit.page(
            say("Sign in", "Anmelden"), status: status,
            script: hasPasskeys ? AssetRoutes.scriptPath : nil,
            leadsAway: returnTarget.sealed != nil
        ) {
            Page.card {
                LogoRoutes.picture(asked, returnTarget)
                HTML.element(.h1) { say("Sign in", "Anmelden") }
                if let asked {
                    HTML.element(.p, .class("soft break")) {
                        say("to go on to ", "um fortzufahren zu ")
                        HTML.element(.strong) { asked.clientName }
                    }
                }
                Parts.note(.bad, notice)
                Parts.note(.good, settled.map(done))
                if isOnceMore { onceMore }
                if let stepUp { stepUp.html(visit, returnTarget) }
                if lacksStrongFactor { setUp }
                if hasPasskeys { passkey }
                if offersMail { mail }
                if stepUp == nil || !expectsTheSame {
                    Parts.providers(providers, isFirst: !offersMail, say) {
                        ProviderRoutes.start($0, returnTarget)
                    }
                }
                if settings[SettingCatalogue.registration].hasPage, !expectsTheSame { register }
                if let asked, asked.policy != nil || asked.terms != nil { about(asked) }
            }
        }
    }

    private var offersMail: Bool {
        [.code, .link, .passphrase].contains(where: settings.offers)
    }

    /// A user is signed in, and was sent here all the same.
    private var isOnceMore: Bool {
        visit.browser != nil && returnTarget != ReturnTarget() && !returnTarget.asOther
    }

    /// The request is for the user who is signed in: no registration here.
    private var expectsTheSame: Bool { isOnceMore && asked?.asksForAnother != true }

    private var setUp: HTML {
        HTML.element(.p) {
            say(
                "You have no passkey or authenticator app yet. ",
                "Sie haben noch keinen Passkey und keine Authenticator-App. ")
            Parts.link(
                say("Set one up now", "Jetzt einrichten"), to: AccountFrame.Tab.security.rawValue)
            "."
        }
    }

    private func done(_ settled: CodeAddress) -> String {
        if settled.hasNewPassphrase {
            return say(
                "Your passphrase is set. Sign in with it.",
                "Ihre Passphrase ist gesetzt. Melden Sie sich damit an.")
        }
        let address = Parts.address(settled.email)
        return say(
            "Your address is now \(address). Sign in with it.",
            "Ihre Adresse ist jetzt \(address). Melden Sie sich damit an.")
    }

    /// Why a signed-in user is here.
    private var onceMore: HTML {
        HTML.element(.p, .class("break")) {
            if let signedInAs, asked?.asksForAnother == true {
                say("You are signed in as ", "Sie sind angemeldet als ")
                HTML.element(.strong) { Parts.address(signedInAs) }
                say(
                    ". Sign in with the account that you want to go on with.",
                    ". Melden Sie sich mit dem Konto an, mit dem Sie weitermachen möchten.")
            } else {
                say(
                    "To go on, please confirm that it is you",
                    "Bitte bestätigen Sie, dass Sie es sind, um weiterzumachen")
                if let signedInAs {
                    ": "
                    HTML.element(.strong) { Parts.address(signedInAs) }
                }
                "."
            }
        }
    }

    /// Hidden until the script finds that the browser knows passkeys.
    private var passkey: HTML {
        HTML {
            visit.form(returnTarget.link("/login/passkey"), .id("passkey")) {
                returnTarget.fields
                Parts.hidden("ceremony", "")
                Parts.hidden("assertion", "")
                HTML.element(.div, .id("passkey-way"), .hidden) {
                    HTML.element(.button, .type("button"), .id("passkey-button")) {
                        say("Sign in with a passkey", "Mit Passkey anmelden")
                    }
                    HTML.element(
                        .p, .class("wrong"), .id("passkey-error"), .role("alert"), .hidden
                    ) {
                        say(
                            "That did not work. Try again, or sign in by e-mail.",
                            "Das hat nicht geklappt. Versuchen Sie es noch einmal, oder melden Sie sich per E-Mail an."
                        )
                    }
                    HTML.element(.p, .class("or")) { say("or", "oder") }
                }
            }
        }
    }

    private var takesPhones: Bool { settings[SettingCatalogue.phoneSignIn] }

    private var mail: HTML {
        visit.form(returnTarget.link("/login")) {
            returnTarget.fields
            Field(
                name: "email",
                label: say.signInAddress(takesPhones), type: takesPhones ? "text" : "email",
                value: email, autocomplete: "username webauthn",
                isFocused: wrongPassphrase == nil && (stepUp == nil || stepUp == .wholeLogin),
                wrong: wrongEmail
            ).html
            if settings.offers(.passphrase) { passphrase }
            if settings.offers(.code) {
                Parts.button(
                    takesPhones
                        ? say("Send me a code", "Code senden")
                        : say("Send me a code", "Code per E-Mail senden"), name: "by",
                    value: BrowserMethod.code.rawValue,
                    look: hasPasskeys || settings.offers(.passphrase) ? "second" : nil)
            }
            if settings.offers(.link) {
                Parts.button(
                    say("Send me a link", "Link per E-Mail senden"), name: "by",
                    value: BrowserMethod.link.rawValue, look: "second")
            }
        }
    }

    /// May be left empty: the buttons below need none.
    private var passphrase: HTML {
        HTML {
            Field(
                name: "passphrase", label: say("Passphrase", "Passphrase"), type: "password",
                autocomplete: "current-password", isRequired: false,
                limit: Field.passphraseLimit,
                hint: settings.offers(.code)
                    ? say(
                        "No passphrase yet? Sign in with a code, then set one under Security.",
                        "Noch keine Passphrase? Melden Sie sich mit einem Code an und setzen Sie dann unter „Sicherheit“ eine."
                    ) : nil,
                wrong: wrongPassphrase
            ).html
            Parts.button(
                say("Sign in", "Anmelden"), name: "by", value: BrowserMethod.passphrase.rawValue)
            HTML.element(.p, .class("links")) {
                Parts.link(
                    say("Forgot your passphrase?", "Passphrase vergessen?"),
                    to: forgotten ?? returnTarget.link(ResetRoutes.path))
            }
        }
    }

    /// What the application says of itself.
    private func about(_ asked: ApplicationRequest) -> HTML {
        HTML.element(.p, .class("links")) {
            HTML.element(.span, .class("soft")) { asked.clientName }
            if let policy = asked.policy { Parts.link(say("Privacy", "Datenschutz"), to: policy) }
            if let terms = asked.terms {
                Parts.link(say("Terms", "Nutzungs\u{AD}bedingungen"), to: terms)
            }
        }
    }

    private var register: HTML {
        HTML.element(.p, .class("links")) {
            HTML.element(.span, .class("soft")) { say("New here?", "Neu hier?") }
            Parts.link(
                say("Create an account", "Konto anlegen"), to: returnTarget.link("/register"))
        }
    }
}

extension RegistrationPosture {
    /// Whether people join on a page of its own: elsewhere they are invited to, or signing in is
    /// enough.
    var hasPage: Bool {
        switch self {
        case .off: false
        case .jitOnOTP, .explicitEndpoint, .inviteCode: true
        }
    }
}
