/// What Urd sends of the types that are defined, and what of them a stream gets.
public enum SignalOffer {
    static let kinds = SignalKind.allCases
    public static let supported: [String] = kinds.map(\.uri)

    /// Told only where a stream asks for them: there are many of the one, and the other tells values.
    static let onRequest: Set<SignalKind> = [.sessionPresented, .tokenClaimsChange]

    /// In the events of the stream itself.
    public static let verification =
        "https://schemas.openid.net/secevent/ssf/event-type/verification"
    public static let streamUpdated =
        "https://schemas.openid.net/secevent/ssf/event-type/stream-updated"

    /// The types that a stream gets: what it asks for of what there is; where it asks for nothing, what
    /// comes without being asked for.
    public static func delivered(_ requested: [String]) -> [SignalKind] {
        guard !requested.isEmpty else { return kinds.filter { !onRequest.contains($0) } }
        return kinds.filter { requested.contains($0.uri) }
    }

    /// Whether a stream gets a signal of a kind that it gets. Of types of credentials that CAEP does not
    /// define no receiver has agreed to any.
    public static func includes(_ signal: Signal) -> Bool {
        signal.kind != .credentialChange || !signal.isOnRequest
    }
}
