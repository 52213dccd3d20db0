internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What a passkey is called: as its owner calls it, else by what made it.
enum PasskeyName {
    static let unknown = "Passkey"

    /// From its own events, in which its owner's word is opened.
    static func of(_ events: [Recorded]) -> String {
        var (model, given): (String?, String?)
        for event in events {
            switch PasskeyEvent(event) {
            case .enrolled(let passkey): model = PasskeyModel.name(of: passkey.key.model)
            case .renamed(let name, _): given = event.personal.isGone ? nil : name
            case .enrollmentRefused, .used, .removed, nil: break
            }
        }
        return given ?? model ?? unknown
    }
}

extension RealmLookups {
    /// It is personal, so that it is in the event alone.
    func name(of passkey: PasskeyView) async throws(Problem) -> String {
        PasskeyName.of(try await events(of: passkey.id))
    }

    /// How the authenticator shows whose passkey it has.
    func passkeyUser(_ account: UUID) async throws(Problem) -> JSON {
        let claims = try await PersonClaims(context).claims(
            of: account, ["email", "phone", "profile"])
        let name = claims["email"] ?? claims["phone_number"] ?? .string(account.description)
        return [
            "id": .string(Base64URL.encode(PasskeyOptions.userHandle(of: account))),
            "name": name, "displayName": claims["name"] ?? name,
        ]
    }
}
