import EventSourcing
import JSON
import Values

/// What may be written: values that can be read again, by this program and by SQL. A value that
/// only fails once it is in the log would damage its stream, or halt a projection, for good.
extension Commit {
    var isStorable: Bool {
        let texts = [
            origin.actor, origin.client, origin.correlation, origin.address, origin.userAgent,
        ]
        return texts.allSatisfy { $0?.isStorable ?? true }
            && events.allSatisfy { JSON.object($0.open).isStorable() }
            && events.allSatisfy { JSON.object($0.personal).isStorable() }
            && events.allSatisfy { JSON.object($0.request).isStorable() }
    }
}

extension JSON {
    fileprivate func isStorable(depth: Int = 1) -> Bool {
        guard depth <= Limits.default.depth else { return false }
        return switch self {
        case .null, .bool: true
        case .integer(let value): JSON.exactIntegers.contains(value)
        case .string(let text): text.isStorable
        case .array(let elements): elements.allSatisfy { $0.isStorable(depth: depth + 1) }
        case .object(let members):
            members.allSatisfy { $0.key.isStorable && $0.value.isStorable(depth: depth + 1) }
        }
    }
}

extension String {
    /// PostgreSQL takes U+0000 in `json` and fails the query that reads it out.
    fileprivate var isStorable: Bool { !hasNullCharacter }
}
