internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<AdminContext> {
    /// The realm as a configuration that changes nothing in it.
    func exportedConfiguration() async throws(Problem) -> JSON {
        let settings = try await knownRealm().settings
        let realm = try realm
        let trial = ConfigurationTrial(self, in: realm)
        var planner = ConfigurationPlanner([:], secrets: [:], prunes: false, trial: trial)
        let document = try await planner.export(settings)
        return ["realms": [realm.name: .object(document)]]
    }
}

extension ConfigurationPlanner {
    /// What the realm has, in the members of a configuration: of its settings those that were set.
    fileprivate mutating func export(_ settings: JSONObject) async throws(Problem) -> JSONObject {
        var document: JSONObject = [:]
        var places = SecretPlaces(realm: trial.realm)
        for kind in ConfigurationCatalogue.kinds where kind.list != nil {
            let listed = try await list(kind).filter(kind.isConfigured)
            for thing in listed { remember(kind, thing) }
            let shown = kind.name == "settings" ? [settings] : listed
            document[kind.name] = exported(kind, shown, &places)
        }
        return document
    }

    private func exported(
        _ kind: ConfigurationKind, _ listed: [JSONObject], _ places: inout SecretPlaces
    ) -> JSON? {
        guard let first = listed.first else { return nil }
        switch kind.form {
        case .single: return .object(members(first, of: kind, name: "", &places))
        case .names: return .array(listed.compactMap { $0[kind.key] })
        case .things:
            var things: JSONObject = [:]
            for thing in listed {
                guard let name = thing[kind.key]?.string else { continue }
                things[name] = .object(members(thing, of: kind, name: name, &places))
            }
            return .object(things)
        }
    }

    private func members(
        _ listed: JSONObject, of kind: ConfigurationKind, name: String,
        _ places: inout SecretPlaces
    ) -> JSONObject {
        var members = shown(listed, of: kind)
        for secret in kind.kept(listed) {
            guard let headers = listed["header_names"]?.array else {
                members[secret] = places.add(kind.name, name, secret)
                continue
            }
            var secrets: JSONObject = [:]
            for header in headers.compactMap(\.string) {
                secrets[header] = places.add(kind.name, name, secret, header)
            }
            members[secret] = .object(secrets)
        }
        return members
    }
}

/// The environment variables that an export names, a different one for each secret.
private struct SecretPlaces {
    let realm: RealmID
    private var taken: Set<String> = []

    init(realm: RealmID) {
        self.realm = realm
    }

    /// `env:ACME_PROVIDERS_CORPORATE_CLIENT_SECRET`.
    mutating func add(_ parts: String...) -> JSON {
        let text = ([realm.name] + parts).filter { !$0.isEmpty }.joined(separator: "_")
        let isKept: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let name = String(text.uppercased().map { isKept($0) ? $0 : "_" }.prefix(Self.longest))
        var place = name
        var number = 1
        while !taken.insert(place).inserted {
            number += 1
            place = "\(name)_\(number)"
        }
        return .string("env:\(place)")
    }

    /// With room for a number behind it: a file takes names of 200 characters.
    private static let longest = 190
}
