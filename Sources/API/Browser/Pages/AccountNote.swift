/// What can have been done on a page of the account.
enum AccountNote: String, CaseIterable {
    case signedOut = "signed-out"
    case accessRemoved = "access-removed"
    case passkeyAdded = "passkey-added"
    case passkeyRenamed = "passkey-renamed"
    case passkeyRemoved = "passkey-removed"
    case appRemoved = "authenticator-removed"
    case passphraseSet = "passphrase-set"
    case passphraseRemoved = "passphrase-removed"
    case providerConnected = "provider-connected"
    case providerDisconnected = "provider-disconnected"
    case otherPerson = "other-person"

    func text(_ say: Words) -> String {
        switch self {
        case .signedOut: say("Signed out there.", "Dort abgemeldet.")
        case .accessRemoved:
            say("The app has no access any more.", "Die App hat keinen Zugriff mehr.")
        case .passkeyAdded: say("Your passkey is ready.", "Ihr Passkey ist bereit.")
        case .passkeyRenamed: say("The passkey was renamed.", "Der Passkey wurde umbenannt.")
        case .passkeyRemoved: say("The passkey was removed.", "Der Passkey wurde entfernt.")
        case .passphraseSet: say("The passphrase is set.", "Die Passphrase ist gesetzt.")
        case .passphraseRemoved:
            say("The passphrase was removed.", "Die Passphrase wurde entfernt.")
        case .providerConnected: say("It is connected.", "Es ist verbunden.")
        case .providerDisconnected:
            say("It is not connected any more.", "Es ist nicht mehr verbunden.")
        case .otherPerson:
            say(
                "You are signed in as somebody else now. What was begun before was not done.",
                "Sie sind jetzt als jemand anders angemeldet. Was vorher begonnen wurde, ist nicht geschehen."
            )
        case .appRemoved:
            say("The authenticator app was removed.", "Die Authenticator-App wurde entfernt.")
        }
    }
}
