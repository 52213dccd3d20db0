public import EventSourcing
public import Values

/// A client that acts for itself: there is nobody who could be offline, or be anybody.
public struct ClientCredentialsGrant: Grant {
    public init() {}

    public static let type = GrantType.clientCredentials
    public static let signsIn = false

    public func gather(_ streams: some StreamReader) async throws(LogFailure) {}

    public func settle(
        _ facts: Void, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        let scope = try desk.grantedScope()
        for name in scope where Scope.standard.contains(name) { throw .scopeNotAllowed }
        return desk.open(account: nil, scope: scope, factors: [])
    }

    public func account(_ facts: Void) -> UUID? { nil }
}
