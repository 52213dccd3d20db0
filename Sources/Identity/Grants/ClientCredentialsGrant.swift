public import EventSourcing
public import Values

/// A client that acts for itself: no person is involved.
public struct ClientCredentialsGrant: Grant {
    public init() {}

    public static let type = GrantType.clientCredentials
    public static let signsIn = false

    public func gather(_ streams: some StreamReader) async throws(LogFailure) {}

    public func settle(
        _ facts: Void, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        desk.open(account: nil, scope: try scope(desk), factors: [])
    }

    /// Scopes about a person are invalid here (RFC 6749 section 5.2), whether the client may have them in
    /// other grants or not. A request without scopes gets the allowed ones of the client.
    private func scope(_ desk: GrantDesk) throws(GrantRefusal) -> [String] {
        let asked = desk.request.scope
        for name in asked where Scope.standard.contains(name) { throw .unknownScope }
        return try desk.grantedScope().filter { !Scope.standard.contains($0) }
    }

    public func account(_ facts: Void) -> UUID? { nil }
}
