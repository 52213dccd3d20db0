package import EventSourcing
package import Values

/// The changes of a signal stream.
package enum SignalStreamChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<SignalStream>, Rejection>
    package typealias NotFound = Identity.NotFound<SignalStream>

    package enum ChangeRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Changes what a receiver has said of its stream: how it is delivered and of which types.
    /// - Parameter client: Only if it is this client's: others learn nothing of it.
    package static func change(
        _ id: UUID, client: UUID, settings: SignalSettings
    ) -> Change<ChangeRejection> {
        Change(of: id) { facts throws(ChangeRejection) in
            guard facts.thing.state.aliveTerms?.client == client else { throw .notFound }
            do throws(FieldFault) {
                try settings.check()
            } catch {
                throw .invalid(error)
            }
            guard facts.thing.state.settings != settings else { return Decision() }
            return Decision(SignalStreamEvent.changed(settings), in: id)
        }
    }

    package enum SetStatusRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Enables, pauses or disables a stream of signals.
    /// - Parameter client: Only if it is this client's; nil: the transmitter changes it by itself.
    /// - Parameter mail: By which the realm's contact is told.
    package static func setStatus(
        _ id: UUID, client: UUID?, status: SignalStatus, reason: String? = nil, mail: UUID? = nil
    ) -> Change<SetStatusRejection> {
        Change(of: id) { facts throws(SetStatusRejection) in
            let state = facts.thing.state
            guard let terms = state.aliveTerms, client == nil || client == terms.client else {
                throw .notFound
            }
            if let reason {
                do throws(FieldFault.Reason) {
                    try TextRule.label(reason, limit: 200)
                } catch {
                    throw .invalid(FieldFault("reason", error))
                }
            }
            // What the transmitter noticed may be over: a receiver's own decision stays.
            if client == nil, state.status != .enabled { return Decision() }
            guard state.status != status || state.statusReason != reason else { return Decision() }
            return Decision(
                SignalStreamEvent.statusChanged(
                    status, reason: reason, by: client == nil ? .transmitter : .receiver,
                    mail: client == nil ? mail : nil), in: id)
        }
    }

    package enum SetSubjectRejection: Error, Equatable, Sendable {
        case notFound
        /// The stream treats as many subjects by name as it may.
        case tooMany(limit: Int)
    }

    /// Adds a subject to those that a stream has signals about, or removes it from them.
    /// - Parameter client: Only if it is this client's stream.
    /// - Parameter otherNames: By which the stream treats the same account as well.
    package static func setSubject(
        _ stream: UUID, client: UUID, subject: NamedSubject, otherNames: Set<NamedSubject> = [],
        isIncluded: Bool
    ) -> Change<SetSubjectRejection> {
        Change(of: stream) { facts throws(SetSubjectRejection) in
            let state = facts.thing.state
            guard state.aliveTerms?.client == client else { throw .notFound }
            let names = otherNames.union([subject])
            guard state.includes(names) != isIncluded else { return Decision() }
            // One name is enough to treat an account otherwise than the default says; none may be left to treat it so again.
            let known = state.named.intersection(names)
            let changed = known.isEmpty ? [subject] : known.sorted { $0.key < $1.key }
            var (after, decision) = (state, Decision())
            for name in changed {
                let event =
                    isIncluded ? SignalStreamEvent.subjectAdded(name) : .subjectRemoved(name)
                after.apply(event)
                decision.append(event, in: stream)
            }
            guard after.named.count <= SignalStream.mostNamed else {
                throw .tooMany(limit: SignalStream.mostNamed)
            }
            return decision
        }
    }

    /// Has the signals of what happened after a position of the log sent once more.
    /// - Parameter client: Only if it is this client's.
    package static func replay(_ stream: UUID, client: UUID, after: Int64) -> Change<NotFound> {
        Change(of: stream) { facts throws(NotFound) in
            guard facts.thing.state.aliveTerms?.client == client else { throw .notFound }
            return Decision(SignalStreamEvent.replayed(after: after), in: stream)
        }
    }

    /// Deletes a stream of signals; nothing more is sent, not even what is on its way.
    /// - Parameter client: Only if it is this client's.
    package static func delete(_ id: UUID, client: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard let terms = facts.thing.state.aliveTerms, terms.client == client else {
                throw .notFound
            }
            var decision = Decision(SignalStreamEvent.deleted, in: id)
            decision.release(terms.claim, by: id)
            return decision
        }
    }
}
