internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

extension Call<AdminContext> {
    /// The realm as a configuration that changes nothing in it.
    func exportedConfiguration() async throws(Problem) -> JSON {
        try await knownRealm()
        let realm = try realm
        let trial = ConfigurationTrial(self, in: realm)
        var planner = ConfigurationPlanner([:], secrets: [:], prunes: false, trial: trial)
        let document = try await planner.export()
        return ["realms": [realm.name: .object(document)]]
    }
}

extension ConfigurationPlanner {
    /// What the realm has, in the members of a configuration. What is at its default is left out where a realm has many such members.
    fileprivate mutating func export() async throws(Problem) -> JSONObject {
        var document: JSONObject = [:]
        for kind in ConfigurationCatalogue.kinds where kind.list != nil {
            let listed = try await list(kind).filter(kind.isConfigured)
            for thing in listed { remember(kind, thing) }
            document[kind.name] = exported(kind, listed)
        }
        return document
    }

    private func exported(_ kind: ConfigurationKind, _ listed: [JSONObject]) -> JSON? {
        guard let first = listed.first else { return nil }
        switch kind.form {
        case .single: return .object(members(first, of: kind, name: ""))
        case .names: return .array(listed.compactMap { $0[kind.key] })
        case .things:
            return .object(
                JSONObject(
                    listed.compactMap { thing in
                        thing[kind.key]?.string.map { name in
                            (name, .object(members(thing, of: kind, name: name)))
                        }
                    }))
        }
    }

    private func members(
        _ listed: JSONObject, of kind: ConfigurationKind, name: String
    ) -> JSONObject {
        var members = shown(listed, of: kind)
        if kind.name == "settings" {
            let defaults = Settings(
                overrides: members.filter { $0.key == SettingCatalogue.profile.name }
            ).all
            members = members.filter { $0.key == "display_name" || defaults[$0.key] != $0.value }
        }
        for secret in kind.kept(listed) {
            let names = listed["header_names"]?.array?.compactMap(\.string)
            members[secret] =
                names.map { names in
                    .object(
                        JSONObject(
                            names.map { ($0, place(of: "\(secret)_\($0)", kind, name)) }))
                } ?? place(of: secret, kind, name)
        }
        return members
    }

    /// `env:ACME_PROVIDERS_CORPORATE_CLIENT_SECRET`.
    private func place(of secret: String, _ kind: ConfigurationKind, _ name: String) -> JSON {
        let parts = [trial.realm.name, kind.name, name, secret].filter { !$0.isEmpty }
        let text = parts.joined(separator: "_").uppercased()
        let isKept: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return .string("env:" + String(text.map { isKept($0) ? $0 : "_" }))
    }
}
