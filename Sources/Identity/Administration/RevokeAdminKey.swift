public import EventSourcing
public import Values

/// Makes an admin key useless at once and for ever.
///
/// Runs in the system realm.
public struct RevokeAdminKey: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<AdminKey>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<AdminKey> {
        try await streams.read(AdminKey.self, id)
    }

    public func decide(_ key: Versioned<AdminKey>) throws(Rejection) -> Decision {
        guard key.exists else { throw .notFound }
        guard !key.state.isRevoked else { return Decision() }
        return Decision(AdminKeyEvent.revoked, in: id)
    }
}
