package import EventSourcing
package import Values

/// The changes of a client.
package enum ClientChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Client>, Rejection>
    package typealias NotFound = Identity.NotFound<Client>

    /// Stops a client from getting or using tokens until it is enabled again.
    package static func disable(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.aliveMetadata != nil else { throw .notFound }
            guard !facts.thing.state.isDisabled else { return Decision() }
            return Decision(ClientEvent.disabled, in: id)
        }
    }

    /// Lets a disabled client work again, as it was.
    package static func enable(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.aliveMetadata != nil else { throw .notFound }
            guard facts.thing.state.isDisabled else { return Decision() }
            return Decision(ClientEvent.enabled, in: id)
        }
    }

    package enum RotateSecretRejection: Error, Equatable, Sendable {
        case notFound
        /// The client does not authenticate by a secret.
        case usesNoSecret
    }

    /// Gives a client a new secret; the old one stops working at once.
    package static func rotateSecret(
        _ id: UUID, secret: SecretDigest
    ) -> Change<RotateSecretRejection> {
        Change(of: id) { facts throws(RotateSecretRejection) in
            guard let metadata = facts.thing.aliveMetadata else { throw .notFound }
            guard metadata.authenticationMethod.usesSecret else { throw .usesNoSecret }
            guard secret != facts.thing.state.secret else { return Decision() }
            return Decision(ClientEvent.secretRotated(secret), in: id)
        }
    }

    package enum RecordRefusalRejection: Error, Equatable, Sendable {
        case idTaken
    }

    /// Puts on record that the authentication of a client failed, once or several times.
    /// - Parameter attempt: The name that the session would have had.
    package static func recordRefusal(_ attempt: UUID, _ refused: RefusedSignIn)
        -> EventSourcing.Change<Versioned<Session>, RecordRefusalRejection>
    {
        .init(of: attempt) { facts throws(RecordRefusalRejection) in
            guard !facts.exists else { throw .idTaken }
            return Decision(SessionEvent.refused(refused), in: attempt)
        }
    }
}
