internal import JSON
internal import Values

extension FilterExpression {
    /// The filter as a text that is read as the same again.
    public var text: String {
        switch self {
        case .comparison(let comparison): comparison.text
        case .not(let part): "not (\(part.text))"
        case .all(let parts) where parts.isEmpty: "position ge 1"
        case .all(let parts):
            parts.map { part in
                if case .any = part { "(\(part.text))" } else { part.text }
            }.joined(separator: " and ")
        case .any(let parts) where parts.isEmpty: "position lt 1"
        case .any(let parts): parts.map(\.text).joined(separator: " or ")
        }
    }
}

extension FilterComparison {
    fileprivate var text: String {
        let head = "\(attribute.name) \(operation.rawValue)"
        let written = values.map(\.written)
        return switch operation {
        case .present: head
        case .in: "\(head) [\(written.joined(separator: ", "))]"
        default: "\(head) \(written.first ?? "")"
        }
    }
}

extension FilterValue {
    fileprivate var written: String {
        let json: JSON =
            switch self {
            case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
            case .id(let id): .string(id.description)
            case .integer(let number): .integer(number)
            case .time(let time): .string(time.description)
            case .boolean(let value): .bool(value)
            case .object: .null
            }
        return String(decoding: json.canonical(), as: UTF8.self)
    }
}
