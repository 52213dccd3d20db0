public import EventSourcing
public import Values

/// Gives an account these roles, and takes away those that it had.
public struct ChangeRoles: Command {
    public var account: UUID
    public var roles: GivenRoles

    public init(account: UUID, roles: GivenRoles) {
        self.account = account
        self.roles = roles
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        let known = facts.realm.state.settings.roles
        for (audience, names) in roles.byAudience {
            guard names.allSatisfy({ known.has($0, at: audience) }) else {
                throw .invalid(FieldFault("roles", .notFound))
            }
        }
        guard roles != facts.thing.state.roles else { return Decision() }
        return Decision(AccountEvent.rolesChanged(roles), in: account)
    }
}
