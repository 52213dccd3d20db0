internal import HTTP
internal import JSON

/// How a route speaks: what it bears in a request beside what is described, how it words a refusal, and how
/// both are described. The clients that it was made for decide that. Each voice stands in the folder of the
/// protocol that it belongs to.
public struct Voice: Sendable {
    let name: String
    var reading: Reading = []
    var caution: Caution = []
    /// The response to a request that is refused, without the headers of the problem.
    let refusal: @Sendable (Problem, Request) -> Response
    /// The bodies that it refuses with, for the description.
    var refusalSchemas: [Schema] = []
    /// What the description of an operation says of how it is read.
    var sentence: @Sendable (_ hasBody: Bool) -> String = { _ in "" }
    /// How a problem goes by in the description.
    let label: @Sendable (ProblemKind) -> String
    /// The content of a refusal with one of these problems, which have one status.
    let content: @Sendable (_ kinds: [ProblemKind]) -> JSONObject
    /// Where its routes are as well, for clients that know them there.
    var alias: Alias?

    /// Paths that begin with a base may begin with another one.
    struct Alias: Sendable {
        let base: String
        let other: String

        /// Nil for a path elsewhere.
        func path(of path: PathTemplate) -> PathTemplate? {
            let text = path.description
            guard text == base || text.hasPrefix(base + "/") else { return nil }
            return PathTemplate(stringLiteral: other + text.dropFirst(base.count))
        }
    }

    struct Reading: OptionSet, Sendable {
        let rawValue: UInt8

        /// Undescribed parameters and members are ignored, and not refused; a body without any
        /// member that is required may be left out.
        static let ignoresUnknown = Self(rawValue: 1 << 0)
        /// Members are matched without case, and null is as good as left out.
        static let matchesWithoutCase = Self(rawValue: 1 << 1)
    }

    struct Caution: OptionSet, Sendable {
        let rawValue: UInt8

        /// RFC 6749 section 5.1 asks for `Pragma` beside `Cache-Control: no-store`.
        static let saysPragma = Self(rawValue: 1 << 0)
        /// Its clients have no browser and keep their tokens themselves.
        static let setsNoCookies = Self(rawValue: 1 << 1)
        /// It answers browsers with pages.
        static let isOfPages = Self(rawValue: 1 << 2)
    }
}

extension Voice: Equatable {
    public static func == (left: Voice, right: Voice) -> Bool { left.name == right.name }
}

/// Whose pages a refusal is shown in, where it is shown as a page.
public protocol PageOwner: Sendable {}
