package import EventSourcing
package import Values

/// The changes of a pushed request.
package enum PushedRequestChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<PushedRequest>, Rejection>

    package enum UseRejection: Error, Equatable, Sendable {
        case used
    }

    /// Uses up a request that its client had pushed: it is granted once.
    /// - Parameter client: The client's stream.
    package static func use(_ request: UUID, account: UUID, client: UUID) -> Change<UseRejection> {
        Change(of: request, isNew: true) { facts throws(UseRejection) in
            guard !facts.state.isUsed else { throw .used }
            return Decision(PushedRequestEvent.used(account: account, client: client), in: request)
        }
    }
}
