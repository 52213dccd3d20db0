internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

extension Call<AdminContext> {
    /// What differs from the configuration in the body, with the events that made it so.
    func drift() async throws(Problem) -> JSON {
        try await knownRealm()
        let planner = try await planned(prunes: true)
        let pending = Set(try await planned(prunes: false).plan.changes.map(\.path))
        let realm = try realm
        let history = ConfigurationHistory(
            log: context.commands.events, realm: realm,
            applied: try await reading { () throws(LogFailure) in
                try await context.commands.events.stream(
                    AppliedConfiguration.stream, after: 0, in: realm
                ).last
            })
        var differences: [JSON] = []
        for change in planner.plan.changes {
            let events = try await reading { () throws(LogFailure) in
                try await history.events(of: change)
            }
            // What the configuration never named, and was there before, is no difference.
            if events.isEmpty, !pending.contains(change.path) { continue }
            differences.append([
                "difference": change.json, "events": .array(events.map(history.json)),
            ])
        }
        return [
            "realm": .string(realm.name), "applied": history.appliedJSON,
            "differences": .array(differences),
            "errors": .array(planner.plan.faults.map(\.json)),
        ]
    }
}

/// What happened in a realm since a configuration was applied.
private struct ConfigurationHistory {
    let log: any EventLog
    let realm: RealmID
    let applied: Recorded?

    /// How many events are looked at for what was removed.
    private static let mostScanned = 20_000

    /// The events since the last configuration, or of all time, that have to do with a thing. Those of other files count as well.
    func events(of change: ConfigurationPlan.Change) async throws(LogFailure) -> [Recorded] {
        if change.action == .create { return try await removals(of: change) }
        var events: [Recorded] = []
        for stream in change.streams {
            events += try await log.stream(stream.id, after: 0, in: stream.realm).filter(isLater)
        }
        return events.sorted { ($0.at, $0.position) < ($1.at, $1.position) }
    }

    private func isLater(_ event: Recorded) -> Bool {
        guard let applied else { return true }
        if event.realm == realm { return event.position > applied.position }
        return event.at >= applied.at && !event.actor.hasPrefix(AppliedConfiguration.actorPrefix)
    }

    /// What is in the configuration and no more in the realm is found by its end.
    private func removals(of change: ConfigurationPlan.Change) async throws(LogFailure)
        -> [Recorded]
    {
        guard let applied, !change.kind.removal.isEmpty else { return [] }
        var found: [Recorded] = []
        var position = applied.position + 1
        let end = position + Int64(Self.mostScanned)
        while position < end {
            let page = try await log.page(from: position, limit: 500, in: realm).events
            guard let last = page.last else { break }
            for event in page where change.kind.removal.contains(event.name) {
                let stream = try await log.stream(event.stream, after: 0, in: realm)
                if stream.contains(where: { names(change, $0) }) { found.append(event) }
            }
            position = last.position + 1
        }
        return found
    }

    private func names(_ change: ConfigurationPlan.Change, _ event: Recorded) -> Bool {
        change.name.isEmpty || event.open.values.contains(.string(change.name))
    }

    func json(_ event: Recorded) -> JSON {
        [
            "realm": .string(event.realm.name), "position": .integer(event.position),
            "at": .string(event.at.description), "type": .string(event.name),
            "actor": .string(event.actor),
        ]
    }

    var appliedJSON: JSON {
        guard let applied, case .applied(let file, let by, _)? = ConfigurationEvent(applied) else {
            return .null
        }
        return [
            "file": .string(file), "by": .string(by), "position": .integer(applied.position),
            "at": .string(applied.at.description),
        ]
    }
}
