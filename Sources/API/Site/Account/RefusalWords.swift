/// Why somebody was not signed in, for the one whose account it is: what others learn by guessing stays
/// with him.
extension Words {
    /// Nil for what only those who look after the server make sense of.
    func refusal(_ attempt: LoginView) -> String? {
        switch attempt.reason {
        case "second_factor_required":
            attempt.isByPassphrase
                ? self(
                    "Right passphrase, second step missing",
                    "Richtige Passphrase, zweiter Schritt fehlt")
                : self(
                    "First step right, second step missing",
                    "Erster Schritt richtig, zweiter fehlt")
        // Of owners it is a mailed code.
        case "invalid_second_factor":
            attempt.method == "owner_passphrase"
                ? self(
                    "Right passphrase, wrong second code",
                    "Richtige Passphrase, falscher zweiter Code")
                : self(
                    "Wrong authenticator code, or too many tries",
                    "Falscher Code der Authenticator-App, oder zu viele Versuche")
        case "invalid_passphrase":
            self(
                "Wrong passphrase, or too many tries",
                "Falsche Passphrase, oder zu viele Versuche")
        case "invalid_code":
            self("Wrong code, or one that is over", "Falscher oder abgelaufener Code")
        case "invalid_link":
            self("Link that is over", "Abgelaufener Link")
        case "unknown_passkey":
            self("Passkey that is not known here", "Passkey, der hier nicht bekannt ist")
        case "reuse":
            self(
                "A token of the app that was used already came again, so the app was signed out",
                "Ein schon benutztes Token der App kam noch einmal, darum wurde die App abgemeldet")
        case "code_reuse":
            self(
                "A code of the app that was used already came again, so the app was signed out",
                "Ein schon benutzter Code der App kam noch einmal, darum wurde die App abgemeldet")
        case "account_blocked":
            self("The account was blocked", "Das Konto war gesperrt")
        default: nil
        }
    }

    /// Of the first of two steps, where the second one came.
    func followedStep(_ attempt: LoginView) -> String {
        attempt.isByPassphrase
            ? self(
                "Right passphrase, second step followed",
                "Richtige Passphrase, zweiter Schritt folgte")
            : self(
                "First step right, second step followed",
                "Erster Schritt richtig, zweiter folgte")
    }
}

extension LoginView {
    fileprivate var isByPassphrase: Bool {
        ["passphrase", "owner_passphrase"].contains(method)
    }
}
