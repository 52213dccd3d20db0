internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Compares a configuration with a realm.
///
/// What differs is decided by the commands themselves: each thing is written in a trial, and it changes where its command decides
/// something. So a plan knows of every refusal before anything is applied, and a second plan is empty.
struct ConfigurationPlanner {
    private let configuration: JSONObject
    private let secrets: JSONObject
    /// What the configuration does not name goes: things of the kinds that it has, and members of its things.
    private let prunes: Bool
    let trial: ConfigurationTrial
    private(set) var plan: ConfigurationPlan
    /// The ids of things that others refer to, by kind and name.
    private var ids: [String: [String: JSON]] = [:]
    private var removals: [(kind: ConfigurationKind, name: String, listed: JSONObject)] = []

    init(
        _ configuration: JSONObject, secrets: JSONObject, prunes: Bool, trial: ConfigurationTrial
    ) {
        self.configuration = configuration
        self.secrets = secrets
        self.prunes = prunes
        self.trial = trial
        plan = ConfigurationPlan(realm: trial.realm)
        plan.faults = ConfigurationCheck(configuration).faults
    }

    mutating func run(isNewRealm: Bool) async throws(Problem) {
        guard plan.faults.isEmpty else { return }
        plan.isNewRealm = isNewRealm
        if isNewRealm { try await makeRealm() }
        var known: [String: [JSONObject]] = [:]
        for kind in ConfigurationCatalogue.kinds where !isNewRealm && isNeeded(kind) {
            let listed = try await list(kind)
            known[kind.name] = listed
            for thing in listed { remember(kind, thing) }
        }
        for kind in ConfigurationCatalogue.kinds where configuration[kind.name] != nil {
            try await compare(kind, known[kind.name] ?? [])
        }
        for removal in removals.reversed() { try await remove(removal) }
    }

    /// Whether the configuration names things of a kind, or some that have to do with its names.
    private func isNeeded(_ kind: ConfigurationKind) -> Bool {
        ConfigurationCatalogue.kinds.contains { other in
            configuration[other.name] != nil
                && (other.name == kind.name || other.rival == kind.name
                    || other.references.values.contains { $0.kind == kind.name })
        }
    }

    private mutating func makeRealm() async throws(Problem) {
        let name = configuration["settings"]?["display_name"] ?? .string(trial.realm.name)
        _ = try await trial.run(
            ConfigurationCatalogue.route("createRealm"), [:],
            ["realm": .string(trial.realm.name), "display_name": name])
    }

    func list(_ kind: ConfigurationKind) async throws(Problem) -> [JSONObject] {
        guard let list = kind.list else { return [] }
        return try await trial.items(ConfigurationCatalogue.route(list)).filter { thing in
            kind.given.allSatisfy { thing[$0.key] == $0.value }
        }
    }

    mutating func remember(_ kind: ConfigurationKind, _ thing: JSONObject) {
        guard let id = kind.id, let name = thing[kind.key]?.string else { return }
        ids[kind.name, default: [:]][name] = thing[id.member]
    }

    // MARK: - Comparing

    private mutating func compare(
        _ kind: ConfigurationKind, _ listed: [JSONObject]
    ) async throws(Problem) {
        switch kind.form {
        case .single:
            let known = listed.first { kind.isConfigured($0) }
            try await write(kind, name: "", configuration[kind.name]?.object ?? [:], over: known)
        case .names, .things:
            let named = names(of: kind)
            for (name, members) in named {
                let found = listed.filter { $0[kind.key]?.string == name }
                if found.count > 1 {
                    plan.faults.append(
                        ConfigurationFault(
                            path: "\(kind.name)/\(name)",
                            what: "the realm has several \(kind.noun)s of this name"))
                    continue
                }
                try await write(kind, name: name, members, over: found.first)
            }
            let all = Set(named.map(\.name))
            for thing in listed where kind.isConfigured(thing) && kind.remove != nil {
                guard let name = thing[kind.key]?.string, !all.contains(name) else { continue }
                if prunes {
                    removals.append((kind, name, thing))
                } else {
                    plan.unnamed.append((kind, name))
                }
            }
        }
    }

    private func names(of kind: ConfigurationKind) -> [(name: String, members: JSONObject)] {
        if kind.form == .names {
            return (configuration[kind.name]?.array ?? []).compactMap { name in
                name.string.map { ($0, [:]) }
            }
        }
        return (configuration[kind.name]?.object ?? [:]).map { ($0.key, $0.value.object ?? [:]) }
    }

    /// Writes a thing in the trial, and notes what it changes.
    private mutating func write(
        _ kind: ConfigurationKind, name: String, _ members: JSONObject, over known: JSONObject?
    ) async throws(Problem) {
        let before = known.map { shown($0, of: kind) }
        // What says what is there already needs no trial. Secrets are not shown, so that the command compares them.
        if let before, !prunes, kind.secrets.isDisjoint(with: members.keys),
            members.allSatisfy({ before[$0.key] ?? .null == $0.value })
        {
            return
        }
        let path = place(of: name, kind)
        let count = trial.log.commits.count
        do throws(Problem) {
            if known == nil, let rival = kind.rival, ids[rival]?[name] != nil {
                throw Problem(.appExists)
            }
            let answer = try await carryOut(kind, name, members, over: known)
            let written = trial.log.commits.dropFirst(count)
            guard !written.isEmpty else { return }
            var change = ConfigurationPlan.Change(
                action: known == nil && kind.list != nil ? .create : .change, kind: kind, name: name
            )
            let told = answer.object.map { shown($0, of: kind) } ?? visible(members, of: kind)
            let after = answer.object == nil ? (before ?? [:]).merging(told) { $1 } : told
            change.values = ConfigurationPlan.Change.differences(
                before ?? [:], known == nil ? visible(members, of: kind) : after)
            change.secrets = places(in: members, of: kind)
            change.streams = Self.streams(of: written)
            plan.changes.append(change)
        } catch {
            guard error.kind.status.code < 500 else { throw error }
            plan.faults.append(fault(error, kind, name, at: path))
        }
    }

    private static func streams(of commits: some Sequence<Commit>) -> Set<ConfigurationPlan.Stream>
    {
        var streams: Set<ConfigurationPlan.Stream> = []
        for commit in commits {
            for event in commit.events {
                streams.insert(.init(realm: commit.realm, id: event.stream))
            }
        }
        return streams
    }

    private func fault(
        _ problem: Problem, _ kind: ConfigurationKind, _ name: String, at path: String
    ) -> ConfigurationFault {
        var problem = problem
        // A name in the file, where the operation speaks of an id.
        if let field = problem.field,
            let named = kind.references.first(where: { $0.value.member == field })
        {
            problem.field = named.key
        }
        if problem.field == kind.key { problem.field = nil }
        let fault = ConfigurationFault(problem, at: path)
        if problem.field != nil || kind.form == .single { return fault }
        // The refusal is about the thing, which it does not name.
        return ConfigurationFault(path: path, what: "\(kind.noun) `\(name)`: \(fault.what)")
    }

    /// Of a list the index.
    private func place(of name: String, _ kind: ConfigurationKind) -> String {
        if name.isEmpty { return kind.name }
        let index = configuration[kind.name]?.array?.firstIndex(of: .string(name))
        return "\(kind.name)/\(index.map { "\($0)" } ?? name)"
    }

    private mutating func remove(
        _ removal: (kind: ConfigurationKind, name: String, listed: JSONObject)
    ) async throws(Problem) {
        guard let operation = removal.kind.remove else { return }
        let count = trial.log.commits.count
        do throws(Problem) {
            _ = try await trial.run(
                ConfigurationCatalogue.route(operation),
                parameters(removal.kind, removal.name, removal.listed))
            var change = ConfigurationPlan.Change(
                action: .remove, kind: removal.kind, name: removal.name)
            change.streams = Self.streams(of: trial.log.commits.dropFirst(count))
            plan.changes.append(change)
        } catch {
            guard error.kind.status.code < 500 else { throw error }
            plan.faults.append(
                fault(
                    error, removal.kind, removal.name,
                    at: "\(removal.kind.name)/\(removal.name)"))
        }
    }
}

// MARK: - Operations

extension ConfigurationPlanner {
    /// Makes a thing, or changes the one that is there.
    private mutating func carryOut(
        _ kind: ConfigurationKind, _ name: String, _ members: JSONObject, over known: JSONObject?
    ) async throws(Problem) -> JSON {
        let body = try body(members, of: kind)
        guard let known, kind.list != nil else { return try await make(kind, name, body) }
        guard kind.form != .names else { return .null }
        return try await trial.run(
            kind.updateRoute, parameters(kind, name, known), .object(update(body, of: kind, known)))
    }

    private mutating func make(
        _ kind: ConfigurationKind, _ name: String, _ body: JSONObject
    ) async throws(Problem) -> JSON {
        let route = kind.createRoute
        let made = Set(route.bodyMembers.map(\.name))
        var first = body.filter { made.contains($0.key) }.merging(kind.given) { $1 }
        if made.contains(kind.key) { first[kind.key] = .string(name) }
        let isInPath = route.parameters.contains { $0.name == kind.key && $0.place == .path }
        var answer = try await trial.run(
            route, isInPath ? [kind.key: .string(name)] : [:], .object(first))
        guard let answered = answer.object else { return answer }
        remember(kind, answered)
        let rest = body.filter { !made.contains($0.key) }
        if !rest.isEmpty {
            answer = try await trial.run(
                kind.updateRoute, parameters(kind, name, answered), .object(rest))
        }
        return answer
    }

    /// The parameters of the path by which operations find a thing.
    private func parameters(
        _ kind: ConfigurationKind, _ name: String, _ known: JSONObject
    ) -> JSONObject {
        if kind.form == .single { return [:] }
        guard let id = kind.id else { return [kind.key: .string(name)] }
        return [id.parameter: known[id.member] ?? .null]
    }

    /// What an update is to say: members that the configuration does not name stay, unless it prunes.
    private func update(
        _ body: JSONObject, of kind: ConfigurationKind, _ known: JSONObject
    ) -> JSONObject {
        let listed = kind.members(known)
        let members = kind.updateRoute.bodyMembers.filter { !kind.omitted.contains($0.name) }
        var update = body
        for member in members where !kind.secrets.contains(member.name) && member.name != kind.key {
            guard let value = listed[member.name], value != .null else { continue }
            if kind.replaces {
                if !prunes, update[member.name] == nil { update[member.name] = value }
            } else if prunes {
                update[member.name] = pruned(update[member.name], member.schema, value)
            }
        }
        return update
    }

    /// A member of which the configuration says this, without what only the realm has.
    private func pruned(_ value: JSON?, _ schema: Schema, _ known: JSON) -> JSON? {
        if case .nullable = schema.resolved { return value ?? .null }
        guard case .object(let rule) = schema.resolved else { return value }
        var inner = value?.object ?? [:]
        for (name, value) in known.object ?? [:] where inner[name] == nil {
            if let member = rule[name] { inner[name] = pruned(nil, member.schema, value) }
        }
        return inner.isEmpty ? value : .object(inner)
    }

    // MARK: - Members

    /// What an operation takes: secrets themselves, and ids in place of names.
    private func body(
        _ members: JSONObject, of kind: ConfigurationKind
    ) throws(Problem) -> JSONObject {
        var body: JSONObject = [:]
        for (name, value) in members {
            if let reference = kind.references[name] {
                body[reference.member] = try id(value, reference, name)
            } else if kind.secrets.contains(name) {
                body[name] = try secret(value, name, of: kind)
            } else {
                body[name] = value
            }
        }
        return body
    }

    private func id(
        _ value: JSON, _ reference: ConfigurationKind.Reference, _ member: String
    ) throws(Problem) -> JSON {
        guard let name = value.string else { return .null }
        let known = ids[reference.kind] ?? [:]
        if let id = known[name] { return id }
        let noun = ConfigurationCatalogue.kind(reference.kind).noun
        throw Problem(
            .invalidField,
            "there is no \(noun) `\(name)`"
                + NearestName.hint(for: name, among: known.keys.sorted()),
            field: member)
    }

    private func secret(
        _ value: JSON, _ member: String, of kind: ConfigurationKind
    ) throws(Problem) -> JSON {
        if let places = value.object {
            var texts: JSONObject = [:]
            for (name, place) in places { texts[name] = try secret(place, member, of: kind) }
            return .object(texts)
        }
        let place = value.string ?? ""
        guard let text = secrets[place]?.string, !text.isEmpty else {
            throw Problem(.invalidField, "nothing stands at `\(place)`", field: member)
        }
        let schema = kind.createRoute.bodyMembers.first { $0.name == member }?.schema.resolved
        guard case .openObject? = schema else { return .string(text) }
        guard let document = try? JSON.parse(Array(text.utf8)), document.object != nil else {
            throw Problem(.invalidField, "`\(place)` is no JSON object", field: member)
        }
        return document
    }

    /// A listed thing as a configuration would have it, without its secrets.
    func shown(_ listed: JSONObject, of kind: ConfigurationKind) -> JSONObject {
        var members = kind.members(listed)
        for (name, reference) in kind.references {
            guard let id = members[reference.member] else { continue }
            members[name] = ids[reference.kind]?.first { $0.value == id }.map { .string($0.key) }
        }
        return visible(members, of: kind)
    }

    private func visible(_ members: JSONObject, of kind: ConfigurationKind) -> JSONObject {
        let names = kind.visibleNames
        return members.filter { names.contains($0.key) && $0.value != .null }
    }

    private func places(
        in members: JSONObject, of kind: ConfigurationKind
    ) -> [(name: String, place: String)] {
        members.filter { kind.secrets.contains($0.key) }.flatMap { name, value in
            value.object.map { places in
                places.map { ("\(name)/\($0.key)", $0.value.string ?? "") }
            } ?? [(name, value.string ?? "")]
        }
    }
}
