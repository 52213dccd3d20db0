internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// What a record of OCSF's class Detection Finding says of a finding.
struct OCSFFinding: Sendable {
    private let event: Recorded

    init(_ event: Recorded) {
        self.event = event
    }

    private var fields: JSONObject { event.open }
    private var rule: FindingRule? {
        fields["rule"]?.string.flatMap(FindingRule.init(rawValue:))
    }

    /// `risk_level_id`; nil where the event says none.
    var level: Int64? {
        guard event.name.hasPrefix("finding.") else { return nil }
        switch fields["level"]?.string.flatMap(FindingLevel.init(rawValue:)) {
        case .low: return 1
        case .medium: return 2
        case .high: return 3
        case nil: return nil
        }
    }

    var members: JSONObject {
        var members: JSONObject = ["finding_info": .object(info)]
        members["risk_level_id"] = level.map { .integer($0) }
        members["resources"] = fields["account"].map { [["uid": $0, "type": "account"]] }
        members["evidences"] = fields["source"].map { [["src_endpoint": ["uid": $0]]] }
        return members
    }

    private var info: JSONObject {
        var info: JSONObject = ["uid": .string(event.stream.description)]
        if let rule {
            info["title"] = .string(rule.sentence)
            info["types"] = [.string(rule.rawValue)]
            info["analytic"] = [
                "name": .string(rule.rawValue), "uid": .string(rule.rawValue), "type_id": 1,
                "desc": .string(rule.sentence),
            ]
        }
        if event.name == FindingEvent.Form.raised.name {
            info["created_time"] = .integer(event.at.milliseconds)
            info["related_events_count"] = .integer(
                Int64(fields["positions"]?.array?.count ?? 0))
        } else {
            info["modified_time"] = .integer(event.at.milliseconds)
        }
        info["first_seen_time"] = fields["from"]?.integer.map(Self.ofSeconds)
        info["last_seen_time"] = fields["to"]?.integer.map(Self.ofSeconds)
        return info
    }

    private static func ofSeconds(_ seconds: Int64) -> JSON {
        .integer(Timestamp(seconds: seconds).milliseconds)
    }
}
