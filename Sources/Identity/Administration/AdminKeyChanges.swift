package import EventSourcing
package import Values

/// The changes of an admin key.
package enum AdminKeyChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<AdminKey>, Rejection>
    package typealias NotFound = Identity.NotFound<AdminKey>

    package enum CreateRejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    /// Lets an operator administer all realms, or those named, with a key of their own, or do there what the key permits
    /// and nothing else.
    ///
    /// Runs in the system realm.
    /// - Parameter name: Whose it is, for the people who look through the keys.
    /// - Parameter digest: Of the secret and of the permissions: see `BearerKey`.
    package static func create(
        _ id: UUID, name: String, digest: SecretDigest, scope: AdminScope,
        permissions: AdminPermissions = .all
    ) -> Change<CreateRejection> {
        Change(of: id) { key throws(CreateRejection) in
            guard !key.exists else { throw .idTaken }
            do throws(FieldFault.Reason) {
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

    /// Makes an admin key useless at once and for ever.
    ///
    /// Runs in the system realm.
    package static func revoke(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { key throws(NotFound) in
            guard key.exists else { throw .notFound }
            guard !key.state.isRevoked else { return Decision() }
            return Decision(AdminKeyEvent.revoked, in: id)
        }
    }
}
