/// A path with named holes, such as `/api/admin/realms/{realm}/clients/{client_id}`.
public struct PathTemplate: Sendable, Hashable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    public let description: String
    let segments: [Segment]
    /// The names of its holes.
    let parameters: [String]

    public init(stringLiteral text: String) {
        precondition(text.utf8.first == UInt8(ascii: "/"), "A path begins with a slash.")
        description = text
        segments = PathTemplate.split(text).map { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return .literal(segment) }
            return .parameter(String(segment.dropFirst().dropLast()))
        }
        parameters = segments.compactMap { segment in
            switch segment {
            case .literal: nil
            case .parameter(let name): name
            }
        }
    }

    /// The segments of a path, empty ones included: `/a/` is not `/a`.
    static func split(_ path: String) -> [String] {
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}
