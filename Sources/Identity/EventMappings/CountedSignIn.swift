public import EventSourcing
internal import JSON

/// A sign-in as it is counted: by its outcome and the method that login history names.
public struct CountedSignIn: Sendable, Equatable {
    public let isRefused: Bool
    public let method: String

    /// Nil where the event is no sign-in of a person.
    public init?(_ event: NewEvent) {
        guard let meaning = EventCatalogue.meanings[event.name] else { return nil }
        isRefused = meaning == .signInRefused
        if !isRefused {
            guard case .signedIn = meaning, event.open["account"]?.string != nil else { return nil }
        }
        method = event.open["method"]?.string ?? "unknown"
        // A client that exchanges a token for another signs no person in.
        if method == GrantType.tokenExchange.rawValue { return nil }
    }
}
