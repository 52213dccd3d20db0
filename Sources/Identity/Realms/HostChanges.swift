package import EventSourcing
package import Values

/// The changes of a host.
package enum HostChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Host>, Rejection>
    package typealias NotFound = Identity.NotFound<Host>

    package enum AssignRejection: Error, Equatable, Sendable {
        /// The id stands for another host.
        case idTaken
        case hostTaken
        case invalid(FieldFault)
    }

    /// Makes a host name lead to a realm; a host leads to one realm only.
    ///
    /// Runs in the system realm, whose claims make a host name unique over all tenants.
    package static func assign(_ id: UUID, host: String, realm: RealmID) -> Change<AssignRejection>
    {
        Change(of: id, whenTaken: .hostTaken) { facts throws(AssignRejection) in
            guard HostName(host) != nil else { throw .invalid(FieldFault("host", .malformed)) }
            if facts.exists {
                guard facts.state.name == host else { throw .idTaken }
                if facts.state.realm == realm { return Decision() }
                guard facts.state.realm == nil else { throw .hostTaken }
            }
            var decision = Decision(HostEvent.assigned(host: host, realm: realm), in: id)
            decision.take(Host.claim(host), for: id)
            return decision
        }
    }

    /// Frees a host name, so that it leads nowhere and may be given to another realm.
    ///
    /// Runs in the system realm.
    package static func release(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { host throws(NotFound) in
            guard host.exists, host.state.realm != nil else { throw .notFound }
            var decision = Decision(HostEvent.released, in: id)
            decision.release(Host.claim(host.state.name), by: id)
            return decision
        }
    }
}
