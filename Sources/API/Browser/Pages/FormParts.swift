internal import HTML
internal import Identity

/// One input with its label, a hint, and what is wrong with it: each is tied to it for users of
/// screen readers.
struct Field: Sendable {
    var name: String
    /// What tells it from others of its name on the page.
    var id: String?
    var label: String
    var type = "text"
    var value = ""
    var autocomplete = "off"
    var isCode = false
    var isRequired = true
    var isFocused = false
    /// The focus is at another one, which stands before it and is wrong as well.
    var yieldsFocus = false
    var limit = 320
    var hint: String?
    var wrong: String?

    /// Browsers silently cut off longer input, in units of UTF-16. So the limit is far beyond what
    /// is taken: what was cut is still refused as too long, and no user has a passphrase that they
    /// did not type.
    static let passphraseLimit = 1024

    var html: HTML {
        HTML.element(.div, .class("field")) {
            HTML.element(.label, .for(key)) { label }
            HTML.element(
                .input, .id(key), .name(name), .type(type), .when(!value.isEmpty, .value(value)),
                .autocomplete(autocomplete), .maximumLength(limit),
                .when(isCode, .class("code")), .when(isCode, .inputMode("numeric")),
                .when(isRequired, .required),
                .when((isFocused || wrong != nil) && !yieldsFocus, .autofocus),
                .when(wrong != nil, .invalid),
                .when(described != nil, .describedBy(described ?? "")),
                .when(
                    type == "email" || type == "password" || isCode, .fixed("spellcheck", "false"))
            )
            if let wrong {
                HTML.element(.p, .class("wrong"), .id("\(key)-wrong"), .role("alert")) { wrong }
            }
            if let hint { HTML.element(.p, .class("hint"), .id("\(key)-hint")) { hint } }
        }
    }

    private var key: String { id ?? name }

    private var described: String? {
        let names = [wrong.map { _ in "\(key)-wrong" }, hint.map { _ in "\(key)-hint" }]
            .compactMap { $0 }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }
}

/// What pages are put together from.
enum Parts {
    enum NoticeTone: String { case good, bad }

    static func note(_ mood: NoticeTone, _ text: String?) -> HTML? {
        guard let text else { return nil }
        return HTML.element(
            .div, .class("note \(mood.rawValue)"), .role(mood == .bad ? "alert" : "status")
        ) {
            HTML.element(.p) { text }
        }
    }

    /// The buttons of sign-in providers, each with the first letter of its name.
    /// - Parameter isFirst: nothing stands above that they are another way beside.
    @HTMLBuilder
    static func providers(
        _ providers: [ProviderLabel], isFirst: Bool, _ say: LocalizedText,
        place: (ProviderLabel) -> String
    ) -> HTML {
        if !providers.isEmpty {
            if !isFirst { HTML.element(.p, .class("or")) { say("or", "oder") } }
            HTML.element(.div, .class("stack")) {
                for provider in providers {
                    HTML.element(
                        .a, .href(place(provider)), .class("button second")
                    ) {
                        HTML.element(.span, .class("mark"), .hiddenFromReaders) {
                            String(provider.name.prefix(1)).uppercased()
                        }
                        HTML.element(.span) {
                            say(
                                "Sign in with \(provider.name)", "Mit \(provider.name) anmelden")
                        }
                    }
                }
            }
        }
    }

    /// Short facts in a row. What divides them is drawn between them, and never ends a line.
    static func facts(_ facts: HTML?...) -> HTML {
        HTML.element(.span, .class("facts soft small")) {
            for fact in facts.compactMap(\.self) {
                fact
                " "
            }
        }
    }

    static func hidden(_ name: String, _ value: String) -> HTML {
        HTML.element(.input, .type("hidden"), .name(name), .value(value))
    }

    /// Whose passphrase is set, for programs that keep passphrases. The field is neither visible nor sent.
    static func userName(_ name: String?, _ say: LocalizedText) -> HTML {
        HTML.element(
            .input, .type("email"), .label(say("E-mail address", "E-Mail-Adresse")),
            .autocomplete("username"), .value(name ?? ""), .hidden)
    }

    static func button(
        _ text: String, name: String? = nil, value: String = "", look: String? = nil
    ) -> HTML {
        HTML.element(
            .button, .type("submit"), .when(name != nil, .name(name ?? "")),
            .when(name != nil, .value(value)), .when(look != nil, .class(look ?? ""))
        ) { text }
    }

    static func link(_ text: String, to place: String, look: String? = nil) -> HTML {
        HTML.element(.a, .href(place), .when(look != nil, .class(look ?? ""))) { text }
    }
}
