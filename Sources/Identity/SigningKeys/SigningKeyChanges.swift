package import EventSourcing
package import Values

/// The changes of a signing key.
package enum SigningKeyChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<SigningKeys>, Rejection>

    /// Gives a realm a key to sign tokens with where it has none of that algorithm. It is idempotent: a
    /// second server changes nothing, so that every server may try.
    package static func addFirst(first: NewSigningKey) -> Change<Never> {
        Change(of: SigningKeys.stream) { facts in
            guard facts.thing.state.active(first.algorithm) == nil else { return Decision() }
            var decision = Decision(SigningKeyEvent.published(first), in: SigningKeys.stream)
            decision.append(SigningKeyEvent.activated(first.id), in: SigningKeys.stream)
            return decision
        }
    }

    package enum RotateRejection: Error, Equatable, Sendable {
        case idTaken
    }

    /// Takes a realm's signing keys of one algorithm a step further: the key that everybody knows already
    /// begins to sign, the one that signed so far retires, and a new one is made known. A realm's first
    /// key signs at once.
    package static func rotate(
        next: NewSigningKey, overlap: Int64 = SigningKeys.overlap, now: Timestamp
    ) -> Change<RotateRejection> {
        Change(of: SigningKeys.stream, at: now) { facts, now throws(RotateRejection) in
            let stream = SigningKeys.stream
            let known = facts.thing.state.entries.filter { $0.key.algorithm == next.algorithm }
            guard !facts.thing.state.entries.contains(where: { $0.key.id == next.id }) else {
                throw .idTaken
            }
            var decision = Decision()
            for entry in known {
                if case .retired(let at) = entry.phase, at.adding(seconds: overlap) <= now {
                    decision.append(SigningKeyEvent.removed(entry.key.id), in: stream)
                }
            }
            let active = known.filter { $0.phase == .active }
            let successor = known.last { $0.phase == .published }
            if let successor {
                for entry in active {
                    decision.append(SigningKeyEvent.retired(entry.key.id, at: now), in: stream)
                }
                decision.append(SigningKeyEvent.activated(successor.key.id), in: stream)
            }
            decision.append(SigningKeyEvent.published(next), in: stream)
            if active.isEmpty, successor == nil {
                decision.append(SigningKeyEvent.activated(next.id), in: stream)
            }
            return decision
        }
    }
}
