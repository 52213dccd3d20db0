public import EventSourcing
public import Values

/// Lets an operator administer all realms, or those named, with a key of their own, or do there what the key permits
/// and nothing else.
///
/// Runs in the system realm.
public struct CreateAdminKey: Command {
    public var id: UUID
    /// Whose it is, for the people who look through the keys.
    public var name: String
    /// Of the secret and of the permissions: see `BearerKey`.
    public var digest: SecretDigest
    public var scope: AdminScope
    public var permissions: AdminPermissions

    public init(
        id: UUID, name: String, digest: SecretDigest, scope: AdminScope,
        permissions: AdminPermissions = .all
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.scope = scope
        self.permissions = permissions
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<AdminKey> {
        try await streams.read(AdminKey.self, id)
    }

    public func decide(_ key: Versioned<AdminKey>) throws(Rejection) -> Decision {
        guard !key.exists else { throw .idTaken }
        do {
            try TextRule.label(name, limit: 200)
        } catch {
            throw .invalid(FieldFault("name", error))
        }
        if case .only(let realms) = scope {
            guard !realms.isEmpty else { throw .invalid(FieldFault("realms", .missing)) }
            guard realms.count <= 100 else {
                throw .invalid(FieldFault("realms", .tooMany(limit: 100)))
            }
            guard Set(realms).count == realms.count else {
                throw .invalid(FieldFault("realms", .duplicate))
            }
        }
        guard permissions != .only([]) else {
            throw .invalid(FieldFault("permissions", .missing))
        }
        return Decision(
            AdminKeyEvent.created(
                name: name, digest: digest, scope: scope, permissions: permissions), in: id)
    }
}
