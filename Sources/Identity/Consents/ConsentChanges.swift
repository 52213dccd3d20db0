package import EventSourcing
package import Values

/// The changes of a consent.
package enum ConsentChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Consent>, Rejection>
    package typealias NotFound = Identity.NotFound<Consent>

    /// Takes back all that a person allowed a client. What the client has is ended beside it, session by
    /// session; a code that is under way opens none any more.
    /// - Parameter consent: The stream of the two.
    /// - Parameter account: Only if it is this account's.
    package static func withdraw(_ consent: UUID, account: UUID) -> Change<NotFound> {
        Change(of: consent) { facts throws(NotFound) in
            guard let given = facts.state.given, given.account == account else { throw .notFound }
            return Decision(
                ConsentEvent.withdrawn(account: account, client: given.client), in: consent)
        }
    }
}
