internal import JSON
internal import Values

/// The fields that events of findings have.
enum FindingFields {
    static func common(
        _ rule: FindingRule, _ account: UUID?, _ risk: RiskChange?
    ) -> JSONObject {
        var fields: JSONObject = ["rule": .string(rule.rawValue)]
        fields["account"] = account.map { .uuid($0) }
        fields["risk"] = (risk?.now).map { .string($0.rawValue) }
        fields["former_risk"] = (risk?.former).map { .string($0.rawValue) }
        return fields
    }
}

extension RiskChange {
    init?(recorded fields: JSONObject) {
        guard let now: FindingLevel = fields.choice("risk"),
            let former: FindingLevel = fields.choice("former_risk")
        else { return nil }
        self.init(former: former, now: now)
    }
}

extension RaisedFinding {
    var fields: JSONObject {
        var fields = FindingFields.common(rule, account, risk)
        fields["level"] = .string(level.rawValue)
        fields["positions"] = .array(positions.map { .integer($0) })
        fields["from"] = .integer(from.seconds)
        fields["to"] = .integer(to.seconds)
        fields["counts"] = .object(
            JSONObject(
                counts.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) }))
        if !places.isEmpty { fields["places"] = .texts(places) }
        switch about {
        case .account, .realm: break
        case .session(let id): fields["session"] = .uuid(id)
        case .source(let source): fields["source"] = .string(source)
        case .actor(let actor): fields["about_actor"] = .string(actor)
        }
        return fields
    }

    init?(recorded fields: JSONObject, _ rule: FindingRule) {
        guard let level: FindingLevel = fields.choice("level"),
            let positions = fields["positions"]?.array?.compactMap(\.integer),
            let from = fields.instant("from"), let to = fields.instant("to")
        else { return nil }
        self.rule = rule
        self.level = level
        self.positions = positions
        self.from = from
        self.to = to
        account = fields.uuid("account")
        counts = (fields["counts"]?.object ?? [:]).reduce(into: [:]) { counts, member in
            counts[member.key] = member.value.integer.map { Int(clamping: $0) }
        }
        places = fields.texts("places") ?? []
        risk = RiskChange(recorded: fields)
        about =
            if let session = fields.uuid("session") {
                .session(session)
            } else if let source = fields["source"]?.string {
                .source(source)
            } else if let actor = fields["about_actor"]?.string {
                .actor(actor)
            } else if let account {
                .account(account)
            } else {
                .realm
            }
    }
}
