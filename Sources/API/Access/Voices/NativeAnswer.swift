internal import HTTP
internal import JSON

extension Response {
    /// What a native app is answered: members that hold nothing are not there.
    static func native(_ status: Status, _ value: JSON) -> Response {
        .json(status, value.withoutNulls)
    }
}

extension JSON {
    fileprivate var withoutNulls: JSON {
        switch self {
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.mapValues(\.withoutNulls))
        case .array(let elements): .array(elements.map(\.withoutNulls))
        case .null, .bool, .integer, .string: self
        }
    }
}
