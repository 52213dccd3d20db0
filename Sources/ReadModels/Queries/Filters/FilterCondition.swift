import EventSourcing
import Postgres
import Values

/// A filter as a condition of SQL. What was written by a caller is a parameter, also the names of fields.
struct FilterCondition {
    private(set) var parameters: Parameters
    /// How many parameters there are.
    private(set) var count: Int
    private let rows: FilterRows

    init(_ rows: FilterRows, _ parameters: Parameters, count: Int) {
        self.rows = rows
        self.parameters = parameters
        self.count = count
    }

    mutating func text(of expression: FilterExpression) -> String {
        text(of: expression, isNegated: false)
    }

    private mutating func text(of expression: FilterExpression, isNegated: Bool) -> String {
        switch expression {
        case .comparison(let comparison):
            let text = text(of: comparison)
            // What is unknown is as good as false, but where it is negated.
            return isNegated ? "coalesce(\(text), false)" : text
        case .not(let part): return "not (\(text(of: part, isNegated: true)))"
        case .all(let parts): return joined(parts, " and ", empty: "true", isNegated)
        case .any(let parts): return joined(parts, " or ", empty: "false", isNegated)
        }
    }

    private mutating func joined(
        _ parts: [FilterExpression], _ word: String, empty: String, _ isNegated: Bool
    ) -> String {
        var texts: [String] = []
        for part in parts { texts.append(text(of: part, isNegated: isNegated)) }
        return texts.isEmpty ? empty : "(\(texts.joined(separator: word)))"
    }

    private mutating func text(of comparison: FilterComparison) -> String {
        if let column = rows.columns[comparison.attribute.name] {
            return scalar(column, comparison.operation, comparison.values)
        }
        let isContrary = comparison.operation == .notEqual
        let operation = isContrary ? FilterOperation.equal : comparison.operation
        let found: String
        switch comparison.attribute.source {
        case .field(let name): found = field(name, operation, comparison.values)
        case .index:
            let column = "i.\(comparison.attribute.name)"
            found = """
                exists (select 1 from urd.event_index i where i.realm = $1 \
                and i.position = \(rows.alias).position \
                and \(scalar(column, operation, comparison.values)))
                """
        case .column, .stand: found = "false"
        }
        return isContrary ? "not \(found)" : found
    }

    // MARK: - Comparisons

    private mutating func scalar(
        _ value: String, _ operation: FilterOperation, _ wanted: [FilterValue]
    ) -> String {
        if operation == .present { return "\(value) is not null" }
        if operation == .in { return "\(value) = any (\(add(list: wanted)))" }
        guard let wanted = wanted.first else { return "false" }
        let parameter = add(wanted)
        return switch operation {
        case .equal, .in, .present: "\(value) = \(parameter)"
        case .notEqual: "\(value) is distinct from \(parameter)"
        case .greater: "\(value) > \(parameter)"
        case .greaterOrEqual: "\(value) >= \(parameter)"
        case .less: "\(value) < \(parameter)"
        case .lessOrEqual: "\(value) <= \(parameter)"
        case .starts: "starts_with(\(value), \(parameter))"
        case .contains: "strpos(\(value), \(parameter)) > 0"
        case .ends: "right(\(value), length(\(parameter))) = \(parameter)"
        }
    }

    /// A list is each of its elements, as `FilterValue.all` has it.
    private mutating func field(
        _ name: String, _ operation: FilterOperation, _ wanted: [FilterValue]
    ) -> String {
        let name = add(.text(name))
        var conditions: [String] = []
        if operation == .present { conditions.append("json_typeof(v.value) <> 'null'") }
        for value in wanted {
            conditions.append(
                scalar(Self.element(as: value), operation == .in ? .equal : operation, [value]))
        }
        return """
            exists (select 1 from json_array_elements(case json_typeof(f.data -> \(name)) \
            when 'array' then f.data -> \(name) else json_build_array(f.data -> \(name)) end) \
            as v(value) where \(conditions.joined(separator: " or ")))
            """
    }

    private static func element(as wanted: FilterValue) -> String {
        switch wanted {
        case .text, .id, .object:
            "(case when json_typeof(v.value) = 'string' then v.value #>> '{}' end collate \"C\")"
        case .integer:
            "(case when json_typeof(v.value) = 'number' then (v.value #>> '{}')::int8 end)"
        case .time:
            "(case when json_typeof(v.value) = 'number' then to_timestamp((v.value #>> '{}')::float8) end)"
        case .boolean:
            "(case when json_typeof(v.value) = 'boolean' then (v.value #>> '{}')::boolean end)"
        }
    }

    // MARK: - Parameters

    private mutating func next() -> String {
        count += 1
        return "$\(count)"
    }

    private mutating func add(_ value: FilterValue) -> String {
        switch value {
        case .text(let bytes): parameters.add(String(decoding: bytes, as: UTF8.self))
        case .id(let id): parameters.add(id)
        case .integer(let number): parameters.add(number)
        case .time(let time): parameters.add(time: time.microseconds)
        case .boolean(let isTrue): parameters.add(isTrue)
        case .object: parameters.add(String?.none)
        }
        return next()
    }

    private mutating func add(list values: [FilterValue]) -> String {
        var array = ArrayParameter(of: values.first?.columnType ?? .text)
        for value in values {
            switch value {
            case .text(let bytes): array.append(String(decoding: bytes, as: UTF8.self))
            case .id(let id): array.append(uuid: (id.high, id.low))
            case .integer(let number): array.append(number)
            case .time(let time): array.append(time: time.microseconds)
            case .boolean(let isTrue): array.append(isTrue)
            case .object: array.appendNull()
            }
        }
        parameters.add(array)
        return next()
    }
}

extension FilterValue {
    fileprivate var columnType: ColumnType {
        switch self {
        case .text, .object: .text
        case .id: .uuid
        case .integer: .int8
        case .time: .timestamptz
        case .boolean: .bool
        }
    }
}

/// What is filtered: the columns that stand for attributes. `f` is the event of a row, where one is asked.
struct FilterRows {
    let alias: String
    let columns: [String: String]

    static let auditTrail = FilterRows(
        alias: "a",
        columns: [
            "type": "a.type", "at": "a.at", "position": "a.position", "stream": "a.stream",
            "actor": "a.actor",
            "outcome": """
            (case when a.type in ('session.opened', 'browser.opened') then 'signed_in' \
            when right(a.type, 7) = 'refused' then 'refused' \
            else f.data ->> 'outcome' end collate "C")
            """,
        ])

    static let loginHistory = FilterRows(
        alias: "h",
        columns: [
            "type": "f.type", "at": "h.at", "position": "h.position", "stream": "f.stream",
            "actor": "(f.meta ->> 'actor' collate \"C\")", "outcome": "h.outcome",
            "account": "h.account", "session": "h.session", "client": "h.client_id",
            "source": "h.source", "device": "h.device", "ended_at": "h.ended_at",
            "end_reason": "h.end_reason", "reason": "h.reason", "method": "h.method",
            "app": "h.app::text", "channel": "h.channel", "country": "h.country",
            "asn": "h.asn",
        ])

    /// What joins the event of each row, where a condition asks for it. By its position, row by row: a planner
    /// that knows nothing of a realm yet would hold each row against all events.
    func event(for condition: String) -> String {
        guard condition.contains("f.") else { return "" }
        return """
             cross join lateral (
                select e.type, e.stream, e.meta, e.data from urd.event e
                where e.realm = $1 and e.position = \(alias).position offset 0) f
            """
    }
}
