internal import HTML
internal import HTTP
internal import Identity

/// What the user is found by, and where another address is typed.
struct AddressCard {
    private let frame: AccountFrame
    let person: Person
    private let takesPhones: Bool
    /// The typed address and its error.
    var wrong: (kind: AddressKind, typed: String, text: String)?

    private var say: LocalizedText { frame.say }

    init(_ call: Call<RealmContext>, _ frame: AccountFrame) async throws(Problem) {
        self.frame = frame
        let events = try await RealmLookups(call.context).events(of: frame.account)
        guard let known = KnownPerson(events), !known.isErased else {
            throw Problem(.internalError)
        }
        person = known.person
        takesPhones = call.context.place.settings[SettingCatalogue.phoneSignIn]
    }

    @HTMLBuilder
    var html: HTML {
        for kind in AddressKind.allCases where kind == .mail || isShown { part(kind) }
    }

    /// A number is shown where the user has one, even if the realm takes none any more.
    private var isShown: Bool { takesPhones || person.phone != nil }

    @HTMLBuilder
    private func part(_ kind: AddressKind) -> HTML {
        HTML.element(.h2) { kind.title(say) }
        if let address = kind.address(of: person) {
            HTML.element(.p, .class("break")) { Parts.address(address) }
        }
        if kind == .mail || takesPhones { form(kind, hasOne: kind.address(of: person) != nil) }
        if kind == .phone, person.phone != nil, person.email != nil {
            frame.visit.form("/account/phone/remove") {
                Parts.button(say("Remove number", "Nummer entfernen"), look: "plain")
            }
        }
    }

    private func form(_ kind: AddressKind, hasOne: Bool) -> HTML {
        let mine = wrong?.kind == kind ? wrong : nil
        return frame.visit.form(kind.path) {
            Field(
                name: kind.field, label: kind.newName(say), type: kind == .mail ? "email" : "tel",
                value: mine?.typed ?? "", autocomplete: kind == .mail ? "email" : "tel",
                hint: hasOne
                    ? say(
                        "We'll send a code there. Then you are signed out everywhere.",
                        "Wir schicken einen Code dorthin. Danach sind Sie überall abgemeldet.")
                    : say("We'll send a code there.", "Wir schicken einen Code dorthin."),
                wrong: mine?.text
            ).html
            Parts.button(
                hasOne ? kind.change(say) : say("Add", "Hinzufügen"), look: "second short")
        }
    }
}

/// What an address is, and what its form says.
enum AddressKind: String, CaseIterable, Sendable {
    case mail
    case phone

    var path: String { self == .mail ? "/account/email" : "/account/phone" }

    func address(of person: Person) -> String? { self == .mail ? person.email : person.phone }

    /// Of the form's input.
    var field: String { self == .mail ? "email" : "phone" }

    func title(_ say: LocalizedText) -> String {
        self == .mail
            ? say("E-mail address", "E-Mail-Adresse") : say("Phone number", "Telefonnummer")
    }

    func newName(_ say: LocalizedText) -> String {
        self == .mail ? say("New address", "Neue Adresse") : say("New number", "Neue Nummer")
    }

    func change(_ say: LocalizedText) -> String {
        self == .mail
            ? say("Change address", "Adresse ändern") : say("Change number", "Nummer ändern")
    }

    func isAlreadyYours(_ say: LocalizedText) -> String {
        self == .mail
            ? say("That is already your address.", "Das ist schon Ihre Adresse.")
            : say("That is already your number.", "Das ist schon Ihre Nummer.")
    }
}
