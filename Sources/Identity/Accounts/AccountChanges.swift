package import EventSourcing
package import Values

/// The changes of an account.
package enum AccountChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Account>, Rejection>
    package typealias NotFound = Identity.NotFound<Account>

    /// Calls off the deletion of an account, as long as its grace lasts. Sessions that ended stay ended.
    package static func cancelDeletion(_ account: UUID) -> Change<NotFound> {
        Change(of: account) { facts throws(NotFound) in
            guard facts.thing.isAlive else { throw .notFound }
            guard facts.thing.state.deletionDue != nil else { return Decision() }
            return Decision(AccountEvent.deletionCancelled, in: account)
        }
    }

    package enum GiveRolesRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Gives an account these roles, and takes away those that it had.
    package static func giveRoles(_ account: UUID, roles: GivenRoles) -> Change<GiveRolesRejection>
    {
        Change(of: account) { facts throws(GiveRolesRejection) in
            guard facts.thing.isAlive else { throw .notFound }
            let known = facts.realm.state.settings.roles
            for (audience, names) in roles.byAudience {
                guard names.allSatisfy({ known.has($0, at: audience) }) else {
                    throw .invalid(FieldFault("roles", .notFound))
                }
            }
            guard roles != facts.thing.state.roles else { return Decision() }
            return Decision(AccountEvent.rolesChanged(roles), in: account)
        }
    }

    /// Keeps an account's person out until it is enabled again, and ends all its sessions.
    /// - Parameter mail: The name of the mail that tells its person.
    package static func disable(_ account: UUID, mail: UUID? = nil) -> Change<NotFound> {
        Change(of: account) { facts throws(NotFound) in
            guard facts.thing.isAlive else { throw .notFound }
            guard !facts.thing.state.isDisabled else { return Decision() }
            return Decision(AccountEvent.disabled(mail: facts.thing.mail(mail)), in: account)
        }
    }

    /// Lets an account's person sign in again. Sessions that ended stay ended.
    package static func enable(_ account: UUID) -> Change<NotFound> {
        Change(of: account) { facts throws(NotFound) in
            guard facts.thing.isAlive else { throw .notFound }
            guard facts.thing.state.isDisabled else { return Decision() }
            return Decision(AccountEvent.enabled, in: account)
        }
    }

    package enum KeepRejection: Error, Equatable, Sendable {
        /// Nothing is to be deleted by what the mail told of, or no more.
        case linkOver
    }

    /// Cancels the deletion of an account that its person asked for, by the link that was mailed then.
    /// A deletion that an administrator decided is not undone by it, and ended sessions stay ended.
    /// - Parameter link: The mail that the link was in.
    package static func keep(_ account: UUID, link: UUID, now: Timestamp) -> Change<KeepRejection> {
        Change(of: account, at: now) { facts, now throws(KeepRejection) in
            guard facts.thing.isAlive, facts.thing.state.canBeKept(by: link, at: now) else {
                throw .linkOver
            }
            return Decision(AccountEvent.deletionCancelled, in: account)
        }
    }

    package enum RecordErasureRejection: Error, Equatable, Sendable {
        case notDeleted
    }

    /// Records that a deleted account's personal data cannot be read any more.
    ///
    /// The adapter destroys the keys first: what the log says must be true.
    package static func recordErasure(_ account: UUID)
        -> EventSourcing.Change<Versioned<Account>, RecordErasureRejection>
    {
        .init(of: account) { facts throws(RecordErasureRejection) in
            guard facts.state.isDeleted else { throw .notDeleted }
            guard !facts.state.isErased else { return Decision() }
            return Decision(AccountEvent.erased, in: account)
        }
    }

    /// Has an account deleted once the realm's grace is over. Until then its person is kept out and all its
    /// sessions are over, and it can be called off: by the link that its person is mailed, unless an administrator
    /// orders it as well.
    /// - Parameter mail: The name of the mail that tells its person.
    /// - Parameter keepBase: What the link in it begins with by which the person calls it off: where the person asks.
    /// - Parameter isAdministrators: An administrator orders it.
    /// - Parameter isAtOnce: Without the realm's grace period: for the realm's administrators.
    package static func scheduleDeletion(
        _ account: UUID, mail: UUID? = nil, keepBase: String? = nil, isAdministrators: Bool = false,
        isAtOnce: Bool = false, now: Timestamp
    ) -> Change<NotFound> {
        Change(of: account, at: now) { facts, now throws(NotFound) in
            guard facts.thing.isAlive else { throw .notFound }
            let isAdministrators = isAdministrators || isAtOnce
            let grace =
                isAtOnce ? 0 : facts.realm.state.settings[SettingCatalogue.accountDeletionGrace]
            var due = now.adding(seconds: grace)
            if let known = facts.thing.state.deletionDue {
                let isAdministratorsKnown = facts.thing.state.isDeletionAdministrators
                // An administrator's order takes over from the person's; the person's changes nothing of an administrator's.
                let takesOver = isAdministrators && !isAdministratorsKnown
                let isSooner = due < known && isAdministrators == isAdministratorsKnown
                // What is to come sooner already stays as it is.
                guard takesOver || isSooner else { return Decision() }
                due = min(known, due)
            }
            // An account that is deleted at once gets no notice.
            let mail = isAtOnce ? nil : facts.thing.mail(mail)
            // A link that does not arrive in time is useless.
            let base = mail == nil || grace == 0 || isAdministrators ? nil : keepBase
            return Decision(
                AccountEvent.deletionScheduled(
                    due: due, mail: mail, base: base, isAdministrators: isAdministrators),
                in: account)
        }
    }
}
