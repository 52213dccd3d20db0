internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// An event as records of OCSF 1.8: one for most, two where an event both gives and takes privileges, none
/// for how other things are done. Attributes that the schema has no place for stand under `unmapped`.
struct OCSFEvent: Sendable {
    private let envelope: EventEnvelope
    private let facts: OCSFFacts
    /// Of Urd.
    private let version: String

    init(_ envelope: EventEnvelope, knowing facts: OCSFFacts = OCSFFacts(), version: String) {
        self.envelope = envelope
        self.facts = facts
        self.version = version
    }

    private var event: Recorded { envelope.event }
    private var fields: JSONObject { event.open }
    private var account: UUID? { facts.account(of: event) }

    /// - Parameter withRare: also those that are sent only on request.
    func records(withOnRequest: Bool = false) -> [JSON] {
        facts.rules(for: event).filter { withOnRequest || !$0.isOnRequest }.map {
            .object(record($0))
        }
    }

    private func record(_ rule: OCSFRule) -> JSONObject {
        var record = common(rule)
        switch rule.recordClass {
        case .accountChange:
            record["user"] = user
            if let factor = rule.factor { record["auth_factors"] = [.object(Self.factor(factor))] }
        case .authentication:
            record["user"] = user
            record.merge(OCSFSignIn(envelope, rule).members) { $1 }
        case .entityManagement: record["entity"] = .object(entity(rule))
        case .userAccess:
            record["user"] = user
            record["privileges"] = .array(
                facts.privileges(of: event, rule).map { .string($0) })
            if let client = fields["client"] {
                record["resources"] = [["uid": client, "type": "client"]]
            }
        case .detectionFinding:
            // The class has no place for who acts, nor for where from.
            record["actor"] = nil
            record["src_endpoint"] = nil
            record.merge(OCSFFinding(event).members) { $1 }
        case .apiActivity:
            record["api"] = [
                "operation": .string(event.name), "service": ["name": .string(event.realm.name)],
            ]
            record["resources"] = .array(
                (fields["accounts"]?.array ?? []).map { ["uid": $0, "type": "account"] })
            if record["src_endpoint"] == nil { record["src_endpoint"] = ["name": "admin-api"] }
        }
        return record
    }

    private func common(_ rule: OCSFRule) -> JSONObject {
        let classID = rule.recordClass.rawValue
        var record: JSONObject = [
            "class_uid": .integer(classID), "category_uid": .integer(classID / 1000),
            "activity_id": .integer(rule.activity), "type_uid": .integer(rule.type),
            "severity_id": .integer(severity(rule).rawValue),
            "status_id": .integer(rule.status.rawValue), "time": .integer(event.at.milliseconds),
            "metadata": .object(metadata), "actor": .object(actor),
            "unmapped": [
                "data": .object(envelope.data), "stream": .string(event.stream.description),
                "version": .integer(Int64(event.version)), "leaf": leaf,
                "epoch": .integer(Int64(envelope.epoch)),
            ],
        ]
        if let shape = EventCatalogue.all.last(where: { $0.name == event.name }) {
            record["message"] = .string(shape.sentence)
        }
        if rule.activity == 99 { record["activity_name"] = .string(event.name) }
        if rule.status == .other { record["status"] = "pending" }
        record["status_detail"] = fields["reason"]
        var source: JSONObject = [:]
        source["uid"] = fields["source"]
        source["ip"] = envelope.data["$address"]
        source["location"] = location.map { .object($0) }
        source["autonomous_system"] = fields["asn"].map { ["number": $0] }
        if !source.isEmpty { record["src_endpoint"] = .object(source) }
        return record
    }

    private var location: JSONObject? {
        var location: JSONObject = [:]
        location["country"] = fields["country"]
        location["city"] = envelope.data["city"]
        return location.isEmpty || fields["source"] == nil ? nil : location
    }

    private var leaf: JSON { .string(Base64URL.encode(event.leaf.bytes)) }

    private var metadata: JSONObject {
        var metadata: JSONObject = [
            "version": .string(OCSFTable.version),
            "product": ["name": "Urd", "vendor_name": "Urd", "version": .string(version)],
            "uid": .string(event.id.description), "sequence": .integer(event.position),
            "event_code": .string(event.name), "log_name": .string(event.realm.name),
            "tenant_uid": .string(event.realm.name), "logged_time": .integer(event.at.milliseconds),
        ]
        metadata["correlation_uid"] = event.correlation.map { .string(TraceReference($0).id) }
        return metadata
    }

    private var actor: JSONObject {
        let actor = EventActor(event.actor)
        let id = actor.id.map { JSON.string($0) }
        switch actor.kind {
        case .person: return ["user": ["uid": id ?? "unknown", "type_id": 1]]
        case .operator: return ["user": ["name": id ?? "unknown", "type_id": 2]]
        case .client, .key: return ["app_uid": id ?? "unknown"]
        case .system: return ["app_name": id ?? "system"]
        case .anonymous, .unknown: return ["app_name": .string(event.actor)]
        }
    }

    private var user: JSON {
        account.map { ["uid": .string($0.description), "type_id": 1] }
            ?? ["name": "unknown", "type_id": 0]
    }

    private func entity(_ rule: OCSFRule) -> JSONObject {
        let ofClient = rule.entity == .device ? fields["client"] : nil
        return [
            "uid": ofClient ?? .string(event.stream.description),
            "type_id": .integer(rule.entity.rawValue),
            "type": .string(String(event.name.prefix { $0 != "." })),
        ]
    }

    /// `severity_id`.
    private enum Severity: Int64 {
        case informational = 1
        case low
        case medium
        case high
    }

    private func severity(_ rule: OCSFRule) -> Severity {
        switch fields["reason"]?.string {
        case SessionEnd.reuse.rawValue?, SessionEnd.codeReuse.rawValue?: return .high
        case "account_blocked"?: return .medium
        default: break
        }
        let isAdministration = [.operator, .key].contains(EventActor(event.actor).kind)
        if event.name == "log.loss_accepted" { return .high }
        if let level = OCSFFinding(event).level {
            return Severity(rawValue: level + 1) ?? .informational
        }
        if isAdministration, event.name.hasSuffix(".deleted") { return .medium }
        return rule.status == .failure ? .low : .informational
    }

    static func factor(_ id: Int64) -> JSONObject { ["factor_type_id": .integer(id)] }
}
