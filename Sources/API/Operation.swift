public import HTTP
public import JSON

/// One operation of the table as a program in this process asks for it: what it takes, by name and
/// kind, and the request that it becomes. The command line is made of these, so that it can neither
/// lack an operation nor check it in another way.
public struct Operation: Sendable {
    /// One value that the operation takes.
    public struct Input: Sendable {
        public enum Kind: Sendable {
            case text
            case integer
            case boolean
            case texts
            /// Anything deeper is given as JSON.
            case json
        }

        public enum Place: Sendable { case path, query, header, body }

        public let name: String
        public let place: Place
        public let kind: Kind
        public let isRequired: Bool
        /// Whether null may be given, which means: back to the default.
        public let canBeNull: Bool
        /// The enumeration of allowed values, if not empty.
        public let choices: [String]
        /// The range of a number.
        public let range: ClosedRange<Int64>?
        public let description: String
    }

    public let id: String
    /// The words that call it on the command line. Nil for what makes no sense on a terminal.
    public let words: [String]?
    /// Whole lines that call it; at least one, where it has words.
    public let examples: [String]
    public let summary: String
    public let detail: String
    public let inputs: [Input]
    /// The members of what it lists, in the order of their schema; none where it lists nothing.
    public let columns: [String]
    /// Whether it asks for something to be taken away (`DELETE`).
    public var isRemoval: Bool { method == .delete }
    let method: Method
    let path: PathTemplate

    init<Context>(_ route: Route<Context>) {
        id = route.id
        words = route.commandLine?.words
        examples = route.commandLine?.examples ?? []
        summary = route.summary
        detail = route.detail
        method = route.method
        path = route.path
        inputs =
            route.parameters.map(Input.init)
            + (route.body.map { Input.members(of: $0.schema) } ?? [])
        columns = Self.columns(of: route.answer)
    }

    private static func columns(of answer: Answer) -> [String] {
        guard case .json(let page, _) = answer.content, case .object(let rule) = page.resolved,
            case .list(let item, _, _)? = rule["items"]?.schema.resolved,
            case .object(let listed) = item.resolved
        else { return [] }
        return listed.members.map(\.name)
    }

    /// The request with these values, which are put where the operation wants them.
    public func request(_ values: JSONObject, id: String) -> Request {
        var text: [String: String] = [:]
        for (name, value) in values {
            text[name] = value.string ?? String(decoding: value.canonical(), as: UTF8.self)
        }
        let filled = path.description.split(separator: "/", omittingEmptySubsequences: false).map {
            part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return String(part) }
            return Percent.encode(text[String(part.dropFirst().dropLast())] ?? "")
        }
        let query = inputs.filter { $0.place == .query }.flatMap { input in
            // Of a list each element stands for itself.
            let texts =
                values[input.name]?.array.map { $0.compactMap(\.string) }
                ?? [text[input.name]].compactMap { $0 }
            return texts.map { (name: input.name, value: $0) }
        }
        var headers = Headers()
        for input in inputs where input.place == .header { headers[input.name] = text[input.name] }
        var body: [UInt8] = []
        if inputs.contains(where: { $0.place == .body }) {
            headers["Content-Type"] = "application/json"
            body = JSON.object(
                values.filter { value in
                    inputs.contains { $0.place == .body && $0.name == value.key }
                }
            ).canonical()
        }
        return Request(
            method: method, path: filled.joined(separator: "/"),
            query: query.isEmpty ? nil : Form.encode(query),
            headers: headers, body: body, id: id)
    }
}

extension Operation.Input {
    fileprivate init(_ parameter: Parameter) {
        let place: Place =
            switch parameter.place {
            case .path: .path
            case .query: .query
            case .header: .header
            }
        self.init(
            name: parameter.name, place: place, kind: Kind(parameter.schema),
            isRequired: parameter.isRequired, canBeNull: false,
            choices: Self.choices(parameter.schema), range: Self.range(parameter.schema),
            description: parameter.description)
    }

    fileprivate static func members(of schema: Schema) -> [Operation.Input] {
        guard case .object(let rule) = schema.resolved else { return [] }
        return rule.members.map { member in
            var canBeNull = false
            if case .nullable = member.schema.resolved { canBeNull = true }
            return Operation.Input(
                name: member.name, place: .body, kind: Kind(member.schema),
                isRequired: member.isRequired, canBeNull: canBeNull,
                choices: choices(member.schema), range: range(member.schema),
                description: member.description)
        }
    }

    private static func range(_ schema: Schema) -> ClosedRange<Int64>? {
        switch schema.resolved {
        case .integer(let range): range
        case .nullable(let inner): range(inner)
        case .text, .list, .boolean, .object, .openObject, .judged, .map, .anything, .named: nil
        }
    }

    private static func choices(_ schema: Schema) -> [String] {
        switch schema.resolved {
        case .text(let rule): rule.values
        case .nullable(let inner), .list(let inner, _, _): choices(inner)
        case .integer, .boolean, .object, .openObject, .judged, .map, .anything, .named: []
        }
    }
}

extension Operation.Input.Kind {
    fileprivate init(_ schema: Schema) {
        switch schema.resolved {
        case .text: self = .text
        case .integer: self = .integer
        case .boolean: self = .boolean
        case .nullable(let inner): self = Self(inner)
        case .list(let element, _, _):
            if case .text = element.resolved { self = .texts } else { self = .json }
        case .object, .openObject, .judged, .map, .anything, .named: self = .json
        }
    }
}

extension API {
    /// Every operation of the admin API.
    public static let operations: [Operation] = table.map { Operation($0) }
}
