package import EventSourcing
package import Values

/// The changes of a passkey.
package enum PasskeyChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Passkey>, Rejection>

    package enum RenameRejection: Error, Equatable, Sendable {
        /// There is none, or it is another account's.
        case notFound
        case invalid(FieldFault)
    }

    /// Gives a passkey the name that its owner knows it by.
    package static func rename(
        _ passkey: UUID, account: UUID, name: String
    ) -> Change<RenameRejection> {
        Change(of: passkey) { facts throws(RenameRejection) in
            guard facts.thing.alive(of: account) != nil else { throw .notFound }
            do throws(FieldFault.Reason) {
                try TextRule.label(name, limit: 100)
            } catch {
                throw .invalid(FieldFault("DisplayName", error))
            }
            return Decision(PasskeyEvent.renamed(name, account: account), in: passkey)
        }
    }
}
