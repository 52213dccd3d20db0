internal import HTML
internal import HTTP
internal import Identity

/// Where an owner types a passphrase: their device makes a hash of it before it is sent, and where
/// no script runs the server does the same.
struct OwnerPassphraseForm {
    let visit: PageVisit
    let rounds: Int64
    let host: String
    let action: String
    let button: String
    var isNew = false
    var wrong: String?
    /// The checkbox beside the code.
    var check: HTML?

    static let usualRounds: Int64 = 650_000

    @HTMLBuilder
    func html(@HTMLBuilder more: () -> HTML) -> HTML {
        let say = visit.say
        visit.form(action, .id("passphrase-form")) {
            more()
            Parts.hidden("passphrase", "")
            Parts.hidden("salt", "me@\(host)")
            Parts.hidden("iterations", String(rounds))
            Field(
                name: "typed",
                label: isNew
                    ? say("New passphrase", "Neue Passphrase")
                    : say("Passphrase", "Passphrase"),
                type: "password", autocomplete: isNew ? "new-password" : "current-password",
                isFocused: true, limit: 256,
                hint: isNew
                    ? say(
                        "At least \(PassphraseRule.length.lowerBound) characters.",
                        "Mindestens \(PassphraseRule.length.lowerBound) Zeichen.") : nil,
                wrong: wrong
            ).html
            if isNew {
                Field(
                    name: "hint", label: say("Hint (optional)", "Hinweis (freiwillig)"),
                    isRequired: false, limit: 120,
                    hint: say(
                        "We e-mail it to you when you ask for it. It must not give your passphrase away.",
                        "Wir senden ihn per E-Mail, wenn Sie ihn anfordern. Er darf Ihre Passphrase nicht verraten."
                    )
                ).html
            }
            if let check { check }
            Parts.button(button)
        }
    }
}

/// A checkbox.
enum OwnerCheck {
    static func html(_ name: String, _ label: String) -> HTML {
        HTML.element(.div, .class("field")) {
            HTML.element(.label, .class("check"), .for(name)) {
                HTML.element(
                    .input, .id(name), .type("checkbox"), .name(name), .value("true"),
                    .autocomplete("off"))
                HTML.element(.span) { label }
            }
        }
    }
}

/// Pages that say one thing.
enum OwnerNotice {
    static func mailed(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("Check your e-mail", "Posteingang prüfen"),
            visit.say(
                "If an account exists, we've sent an e-mail to its owner.",
                "Falls es ein Konto gibt, haben wir dem Inhaber eine E-Mail geschickt."))
    }

    static func linkOver(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say.linkExpired, visit.say.adviceOnExpiredLink, .badRequest,
            link: (visit.say("Back to sign in", "Zurück zur Anmeldung"), "/auth/login"))
    }
}

/// The script of the pages on which an owner types their passphrase.
enum OwnerScript {
    static let path = "/assets/\(AssetRoutes.fingerprint(text))/passphrase.js"

    static let table: [Route<RealmContext>] = [
        AssetRoutes.asset(
            path, id: "getOwnerScript", "Makes a passphrase ready to be sent.",
            "text/javascript; charset=utf-8", text)
    ]

    private static let text = """
        "use strict";
        (() => {
          const form = document.getElementById("passphrase-form");
          if (!form || !window.crypto || !window.crypto.subtle) return;
          const bytes = (text) => new TextEncoder().encode(text);
          const derive = async (secret, salt, iterations) => {
            const key = await crypto.subtle.importKey(
              "raw", secret, "PBKDF2", false, ["deriveBits"]);
            return new Uint8Array(await crypto.subtle.deriveBits(
              {name: "PBKDF2", hash: "SHA-256", salt, iterations}, key, 256));
          };
          let isBusy = false;
          form.addEventListener("submit", async (event) => {
            const fields = form.elements;
            if (fields.typed.value === "") return;
            event.preventDefault();
            if (isBusy) return;
            isBusy = true;
            const typed = bytes(fields.typed.value);
            // The server can't count what it does not see; the page that comes says what is wrong.
            if (fields.typed.autocomplete === "new-password" &&
                [...fields.typed.value].length < \(PassphraseRule.length.lowerBound)) {
              form.submit();
              return;
            }
            const key = await derive(
              typed, bytes(fields.salt.value), Number(fields.iterations.value));
            const hash = await derive(key, typed, 1);
            fields.passphrase.value = btoa(String.fromCharCode(...hash));
            fields.typed.disabled = true;
            form.submit();
          });
        })();

        """
}
