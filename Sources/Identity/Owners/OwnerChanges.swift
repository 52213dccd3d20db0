package import EventSourcing
internal import Values

/// The changes of an owner.
package enum OwnerChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Owner>, Rejection>

    /// Cancels a realm owner's move: the link that was mailed to another address is worth nothing.
    package static func cancelMove() -> Change<Never> {
        Change(of: Owner.stream) { facts in
            guard let move = facts.thing.state.requestedMove else { return Decision() }
            return Decision(OwnerEvent.moveEnded(code: move.code), in: Owner.stream)
        }
    }

    /// Puts on record that a realm's owner agrees to its terms as they are.
    package static func signTerms() -> Change<VouchForMailbox.Rejection> {
        Change(of: Owner.stream) { facts throws(VouchForMailbox.Rejection) in
            guard facts.thing.state.isOnboarded else { throw .noOwner }
            return Decision(OwnerEvent.termsSigned, in: Owner.stream)
        }
    }
}
