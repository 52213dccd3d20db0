internal import HTML
internal import ReadModels
internal import Values

/// The passkeys of an account, and the way to another one.
extension SecurityRoutes {
    static func line(
        _ passkey: PasskeyView, _ name: String, _ frame: AccountFrame, _ wrong: FormError?
    ) -> HTML {
        let say = frame.say
        let id = passkey.id.description
        var field = Field(
            name: "name", id: "name-\(id)", label: say("New name", "Neuer Name"), value: name,
            limit: 100)
        if case .name(of: passkey.id, let typed, let fault) = wrong {
            (field.value, field.wrong) = (typed, fault)
        }
        let shown = field
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { name }
                HTML.element(.span, .class("soft small")) {
                    if let usedAt = passkey.usedAt {
                        say("Last used ", "Zuletzt benutzt ")
                        say.moment(usedAt)
                    } else {
                        say("Added ", "Hinzugefügt ")
                        say.moment(passkey.enrolledAt)
                    }
                }
            }
            HTML.element(.details, .when(shown.wrong != nil, .open)) {
                HTML.element(.summary) {
                    say("Rename", "Umbenennen")
                }
                frame.visit.form("/account/passkeys/rename", .class("row")) {
                    Parts.hidden("passkey", id)
                    shown.html
                    Parts.button(say("Save", "Speichern"), look: "second")
                }
            }
            frame.visit.form("/account/passkeys/remove") {
                Parts.hidden("passkey", id)
                HTML.element(
                    .button, .type("submit"), .class("danger"),
                    .label(say("Remove \(name)", "\(name) entfernen"))
                ) { say("Remove", "Entfernen") }
            }
        }
    }

    /// Says why there is no button until the script finds that the browser knows passkeys.
    static func enrol(_ frame: AccountFrame) -> HTML {
        let say = frame.say
        return frame.visit.form("/account/passkeys/add", .id("enrol")) {
            Parts.hidden("ceremony", "")
            Parts.hidden("attestation", "")
            HTML.element(.p, .id("enrol-none"), .class("hint")) {
                say(
                    "To add one, you need JavaScript and a browser that supports passkeys.",
                    "Um einen hinzuzufügen, brauchen Sie JavaScript und einen Browser, der Passkeys unterstützt."
                )
            }
            HTML.element(.div, .id("enrol-way"), .hidden) {
                HTML.element(.button, .type("button"), .id("enrol-button"), .class("short")) {
                    say("Add a passkey", "Passkey hinzufügen")
                }
                HTML.element(
                    .p, .class("wrong"), .id("enrol-known"), .role("alert"), .hidden
                ) {
                    say(
                        "This device already has a passkey for your account.",
                        "Dieses Gerät hat schon einen Passkey für Ihr Konto."
                    )
                }
                HTML.element(
                    .p, .class("wrong"), .id("enrol-error"), .role("alert"), .hidden
                ) {
                    say(
                        "No passkey was created. Reload the page and try again.",
                        "Es wurde kein Passkey angelegt. Laden Sie die Seite neu und versuchen Sie es noch einmal."
                    )
                }
            }
        }
    }
}
