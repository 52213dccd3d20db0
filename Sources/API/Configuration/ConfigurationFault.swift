internal import JSON

/// What is wrong with a configuration, and where.
struct ConfigurationFault: Error, Sendable, Equatable {
    /// Names on the way to the place, with slashes between them: `clients/web/redirect_uris/0`.
    let path: String
    /// A sentence without its end: the reader of a file adds the line.
    let what: String
    /// How to mend it; empty where that is not known.
    var hint = ""

    var json: JSON {
        var members: JSONObject = ["path": .string(path), "what": .string(what)]
        if !hint.isEmpty { members["hint"] = .string(hint) }
        return .object(members)
    }

    /// What a route of the admin API refused in a thing.
    init(_ problem: Problem, at path: String) {
        let field = problem.field.map { "\(path)/\($0)" } ?? path
        let text = problem.detail.isEmpty ? problem.kind.title : problem.detail
        self.init(path: field, what: text.hasSuffix(".") ? String(text.dropLast()) : text)
    }

    init(path: String, what: String, hint: String = "") {
        self.path = path
        self.what = what
        self.hint = hint
    }

    static let schema = Schema.object(
        .required(
            "path", .text(0...2_000), "Path of the value within the realm's configuration."),
        .required("what", .text(1...2_000), "Description of the error."),
        .optional("hint", .text(1...2_000), "How to mend it."))
}
