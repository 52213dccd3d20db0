internal import EventSourcing
internal import Identity

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
