package import EventSourcing
package import JSON
internal import Values

/// The changes of a realm.
package enum RealmChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Realm>, Rejection>
    package typealias NotFound = Identity.NotFound<Realm>

    package enum CreateRejection: Error, Equatable, Sendable {
        case alreadyExists
        case invalid(FieldFault)
    }

    /// Opens a new tenant with nothing in it.
    package static func create(displayName: String) -> Change<CreateRejection> {
        Change(of: Realm.stream) { realm throws(CreateRejection) in
            guard !realm.exists else { throw .alreadyExists }
            do throws(FieldFault.Reason) {
                try SettingCatalogue.displayName.setting.check(.string(displayName))
            } catch {
                throw .invalid(FieldFault(SettingCatalogue.displayName.name, error))
            }
            return Decision(RealmEvent.created(displayName: displayName), in: Realm.stream)
        }
    }

    /// Closes a realm: all sign-ins and changes are refused until it is enabled again.
    package static func disable() -> Change<NotFound> {
        Change(of: Realm.stream) { realm throws(NotFound) in
            guard realm.exists else { throw .notFound }
            guard !realm.state.isDisabled else { return Decision() }
            return Decision(RealmEvent.disabled, in: Realm.stream)
        }
    }

    /// Opens a disabled realm again, as it was.
    package static func enable() -> Change<NotFound> {
        Change(of: Realm.stream) { realm throws(NotFound) in
            guard realm.exists else { throw .notFound }
            guard realm.state.isDisabled else { return Decision() }
            return Decision(RealmEvent.enabled, in: Realm.stream)
        }
    }

    package enum SetSettingsRejection: Error, Equatable, Sendable {
        case notFound
        case disabled
        case invalid(FieldFault)
    }

    /// Changes some of a realm's settings and leaves the others as they are.
    /// - Parameter changes: By name; null returns a setting to its default.
    package static func setSettings(_ changes: JSONObject) -> Change<SetSettingsRejection> {
        Change(of: Realm.stream) { realm throws(SetSettingsRejection) in
            guard realm.exists else { throw .notFound }
            guard !realm.state.isDisabled else { throw .disabled }
            let effective: JSONObject
            do throws(FieldFault) {
                effective = try realm.state.settings.effective(changes, perApp: false)
            } catch {
                throw .invalid(error)
            }
            guard !effective.isEmpty else { return Decision() }
            return Decision(RealmEvent.settingsChanged(effective), in: Realm.stream)
        }
    }

    /// Puts on record that a realm goes on without what its database lost, once for each loss.
    ///
    /// Nothing is changed by it but what the sealers hold the log to. A disabled realm is sealed as well.
    package static func acceptLoss(_ loss: AcceptedLoss)
        -> EventSourcing.Change<Versioned<LogLosses>, Never>
    {
        .init(of: AcceptedLoss.stream) { losses in
            guard !losses.state.accepted.contains(loss) else { return Decision() }
            return Decision(LogEvent.lossAccepted(loss), in: AcceptedLoss.stream)
        }
    }
}
