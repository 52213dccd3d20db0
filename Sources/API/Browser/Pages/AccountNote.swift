/// What can have been done on a page of the account.
enum AccountNote: String, CaseIterable {
    case signedOut = "signed-out"
    case accessRemoved = "access-removed"
    case passkeyAdded = "passkey-added"
    case passkeyRenamed = "passkey-renamed"
    case passkeyRemoved = "passkey-removed"
    case methodRemoved = "method-removed"
    case appRemoved = "authenticator-removed"
    case passphraseSet = "passphrase-set"
    case passphraseRemoved = "passphrase-removed"
    case providerConnected = "provider-connected"
    case providerDisconnected = "provider-disconnected"
    case addressAdded = "address-added"
    case otherPerson = "other-person"

    func text(_ say: LocalizedText) -> String {
        switch self {
        case .signedOut: say("The browser was signed out.", "Der Browser wurde abgemeldet.")
        case .accessRemoved:
            say("The app no longer has access.", "Die App hat keinen Zugriff mehr.")
        case .passkeyAdded: say("Your passkey is ready.", "Ihr Passkey ist bereit.")
        case .passkeyRenamed: say("The passkey was renamed.", "Der Passkey wurde umbenannt.")
        case .passkeyRemoved: say("The passkey was removed.", "Der Passkey wurde entfernt.")
        case .methodRemoved:
            say(
                "Removed. It no longer signs in to your account.",
                "Entfernt. Niemand kann sich mehr damit anmelden.")
        case .passphraseSet: say("The passphrase is set.", "Die Passphrase ist gesetzt.")
        case .passphraseRemoved:
            say("The passphrase was removed.", "Die Passphrase wurde entfernt.")
        case .providerConnected: say("The account is connected.", "Das Konto ist verbunden.")
        case .providerDisconnected:
            say("The account was disconnected.", "Das Konto wurde getrennt.")
        case .addressAdded:
            say(
                "Added. You can sign in with it from now on.",
                "Hinzugefügt. Sie können sich ab jetzt damit anmelden.")
        case .otherPerson:
            say(
                "You are now signed in with another account. Nothing was changed.",
                "Sie sind jetzt mit einem anderen Konto angemeldet. Es wurde nichts geändert."
            )
        case .appRemoved:
            say("The authenticator app was removed.", "Die Authenticator-App wurde entfernt.")
        }
    }
}
