internal import HTTP
internal import Identity
internal import JSON

/// All of a route but what it does: from it requests are found and read, and `/openapi.json` is
/// printed. One object, for every request looks at it again and again.
public final class Outline: Sendable {
    let method: Method
    let path: PathTemplate
    /// Names the operation, in the description and for programs made from it.
    let id: String
    /// How it is called on the command line. Nil for what makes no sense on a terminal.
    let commandLine: CommandWords?
    let tag: String
    let summary: String
    let detail: String
    let right: Right
    /// What is enough for an admin key that is limited to permissions. Nil: the route is closed to such keys.
    let permission: AdminPermission?
    let voice: Voice
    /// Whether undescribed members and parameters are ignored, and not refused.
    let ignoresUnknown: Bool
    let parameters: [Parameter]
    /// Those that a request may not leave out, but for the path's own.
    let required: [Parameter]
    let body: Body?
    let answer: Answer
    /// What the operation itself may refuse, beside what every operation of its form may.
    let refusals: [ProblemKind]
    let traits: RouteTraits

    init(
        method: Method, path: PathTemplate, id: String, commandLine: CommandWords?, tag: String,
        summary: String,
        detail: String, right: Right, permission: AdminPermission? = nil, voice: Voice,
        parameters: [Parameter], body: Body?,
        answer: Answer, refusals: [ProblemKind], traits: RouteTraits = []
    ) {
        let inPath = parameters.filter { $0.place == .path }.map(\.name)
        precondition(Set(inPath) == Set(path.parameters), "A path's parameters are declared.")
        precondition(
            Set(parameters.map(\.name)).count == parameters.count, "A parameter is declared once.")
        precondition(
            right != .realm || inPath.contains("realm"), "A realm's right needs a realm.")
        precondition(
            permission == nil || right == .realm || right == .everything,
            "Permissions are of admin keys.")
        self.method = method
        self.path = path
        self.id = id
        self.commandLine = commandLine
        self.tag = tag
        self.summary = summary
        self.detail = detail
        self.right = right
        self.permission = permission
        self.voice = voice
        ignoresUnknown = voice.reading.contains(.ignoresUnknown)
        self.parameters = parameters
        required = parameters.filter { $0.isRequired && $0.place != .path }
        self.body = body
        self.answer = answer
        self.refusals = refusals
        self.traits = traits
    }
}

/// What has an outline: a route, or a route that its context was given to.
protocol Outlined {
    var outline: Outline { get }
}

extension Outline: Outlined {
    var outline: Outline { self }
}

/// A body that an operation takes.
struct Body: Sendable {
    enum Format: String, Sendable {
        case json = "application/json"
        /// As JSON is read, and under its name as well.
        case jsonAPI = "application/vnd.api+json"
        case form = "application/x-www-form-urlencoded"
    }

    let format: Format
    let schema: Schema
    let example: JSON
    /// Beyond it 413, however much the server itself would read.
    let maximumBytes: Int
    /// Whether nothing at all says as much as an object without members.
    var mayBeMissing = false

    init(
        _ format: Format = .json, schema: Schema, example: JSON, maximumBytes: Int = 1024 * 1024
    ) {
        self.format = format
        self.schema = schema
        self.example = example
        self.maximumBytes = maximumBytes
    }

    /// Whether every member of it may be left out.
    var isOptional: Bool {
        if case .object(let rule) = schema.resolved {
            !rule.members.contains(where: \.isRequired)
        } else {
            false
        }
    }

    /// A form: texts, numbers and flags by name. A list is a name that may come several times.
    static func form(
        _ schema: Schema, example: JSON, maximumBytes: Int = 64 * 1024
    ) -> Body {
        Body(.form, schema: schema, example: example, maximumBytes: maximumBytes)
    }
}

/// What an operation answers when it went well.
struct Answer: Sendable {
    enum Content: Sendable {
        case nothing
        case json(Schema, example: JSON)
        case text(String)
        /// Bytes that are no text, of a type.
        case bytes(String = "application/octet-stream")
        /// Text that goes on, of the type that the client accepts.
        case stream([String])
    }

    let status: Status
    let description: String
    let content: Content
    /// Name and description of every header that the answer has beside the usual ones.
    var headers: [(name: String, description: String)] = []
}

extension Outline {
    /// Every problem that this operation may answer with.
    var problems: Set<ProblemKind> {
        var kinds = Set(refusals).union([.internalError, .invalidParameter])
        if !ignoresUnknown { kinds.insert(.unknownParameter) }
        if !parameters.isEmpty { kinds.insert(.repeatedParameter) }
        if parameters.contains(where: { $0.isRequired && $0.place != .path }) {
            kinds.insert(.missingParameter)
        }
        if let body {
            kinds.formUnion([.missingField, .invalidField, .unsupportedMediaType, .bodyTooLarge])
            if !ignoresUnknown { kinds.insert(.unknownField) }
            switch body.format {
            case .json, .jsonAPI: kinds.insert(.malformedJSON)
            case .form: kinds.formUnion([.malformedForm, .repeatedParameter])
            }
        } else if method != .get {
            kinds.insert(.unexpectedBody)
        }
        // Authentication reads the log.
        switch right {
        case .nothing: break
        case .realm, .everything: kinds.formUnion([.unauthenticated, .forbidden])
        case .client: kinds.formUnion([.invalidRequest, .invalidClient, .rateLimited])
        case .account, .bearer, .service:
            if right == .account { kinds.insert(.forbidden) }
            kinds.formUnion([
                .unauthenticated, .invalidToken, .unprovenToken, .proofRefused, .proofNonceNeeded,
            ])
        }
        if right != .nothing {
            kinds.formUnion([.busy, .contended, .unavailable, .logDamaged])
        }
        if parameters.contains(where: { $0.name == Parameter.idempotencyKey.name }) {
            kinds.insert(.idempotencyKeyReused)
        }
        return kinds
    }
}
