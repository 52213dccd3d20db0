internal import HTML
internal import Identity

/// What every page says that asks the user to let an application or a device in: as which account
/// they answer, and what is unverified.
enum AskingParts {
    /// - Parameter place: where the application leads people to, if it leads them anywhere.
    static func unchecked(leadingTo place: String?, _ say: LocalizedText) -> HTML {
        HTML.element(.p, .class("break")) {
            say(
                "This name has not been verified.", "Dieser Name ist nicht überprüft.")
            if let place {
                say(" The app leads you to ", " Die App führt Sie zu ")
                HTML.element(.strong) { place }
                "."
            }
        }
    }

    /// Where tokens will be good that are asked for; nothing where no place is named (RFC 8707).
    static func resources(
        _ asks: Agreement, remembered: Agreement = Agreement(), _ say: LocalizedText
    ) -> HTML {
        HTML {
            if !asks.resources.isEmpty {
                HTML.element(.h2) {
                    say("The access would be good at", "Der Zugriff würde gelten bei")
                }
                HTML.element(.ul, .class("scopes")) {
                    for resource in asks.resources {
                        HTML.element(.li) {
                            HTML.element(.code, .class("break")) { resource }
                            if remembered.resources.contains(resource) { allowedBefore(say) }
                        }
                    }
                }
            }
        }
    }

    static func allowedBefore(_ say: LocalizedText) -> HTML {
        HTML {
            " "
            HTML.element(.span, .class("soft small")) {
                say("(allowed before)", "(schon erlaubt)")
            }
        }
    }

    static func signedIn(as email: String, _ say: LocalizedText) -> HTML {
        HTML.element(.p, .class("soft break")) {
            say("Signed in as ", "Angemeldet als ")
            HTML.element(.strong) { Parts.address(email) }
        }
    }

    /// To the login, and from there back to this page with another account.
    static func notYou(_ returnTarget: ReturnTarget, _ say: LocalizedText) -> HTML {
        var asOther = returnTarget
        asOther.asOther = true
        return Parts.link(
            say("Not you? Use another account", "Nicht Sie? Anderes Konto verwenden"),
            to: asOther.link("/login"))
    }
}
