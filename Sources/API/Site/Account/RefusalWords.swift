internal import ReadModels

/// Why a sign-in was rejected, as the account's user reads it; an attacker who guesses does not
/// learn it.
extension LocalizedText {
    /// Nil for what only those who look after the server make sense of.
    func refusal(_ attempt: LoginView) -> String? {
        switch attempt.reason {
        case "second_factor_required":
            attempt.isByPassphrase
                ? self(
                    "Passed step 1 of 2 with the right passphrase, step 2 is missing",
                    "Schritt 1 von 2 mit richtiger Passphrase bestanden, Schritt 2 fehlt")
                : self(
                    "Passed step 1 of 2, step 2 is missing",
                    "Schritt 1 von 2 bestanden, Schritt 2 fehlt")
        // Of owners it is a mailed code.
        case "invalid_second_factor":
            attempt.method == "owner_passphrase"
                ? self(
                    "Right passphrase, wrong second code",
                    "Richtige Passphrase, falscher zweiter Code")
                : self(
                    "Wrong authenticator code, or too many attempts",
                    "Falscher Code der Authenticator-App, oder zu viele Versuche")
        case "invalid_passphrase":
            self(
                "Wrong passphrase, or too many attempts",
                "Falsche Passphrase, oder zu viele Versuche")
        case "invalid_code":
            self("Wrong or expired code", "Falscher oder abgelaufener Code")
        case "invalid_link":
            self("Expired link", "Abgelaufener Link")
        case "unknown_passkey":
            self("Unknown passkey", "Unbekannter Passkey")
        case "reuse":
            self(
                "A token of the app was used twice, so the app was signed out",
                "Ein Token der App wurde zweimal benutzt, darum wurde die App abgemeldet")
        case "code_reuse":
            self(
                "A code of the app was used twice, so the app was signed out",
                "Ein Code der App wurde zweimal benutzt, darum wurde die App abgemeldet")
        case "account_blocked":
            self("The account was blocked", "Das Konto war gesperrt")
        default: nil
        }
    }

    /// The message for a first step that a second one followed.
    func followedStep(_ attempt: LoginView) -> String {
        attempt.isByPassphrase
            ? self(
                "Passed step 1 of 2 with the right passphrase",
                "Schritt 1 von 2 mit richtiger Passphrase bestanden")
            : self(
                "Passed step 1 of 2", "Schritt 1 von 2 bestanden")
    }
}

extension LoginView {
    fileprivate var isByPassphrase: Bool {
        ["passphrase", "owner_passphrase"].contains(method)
    }
}
