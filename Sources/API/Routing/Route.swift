public import EventSourcing
public import HTTP
internal import JSON

/// What the handlers of one table work with, and who lets callers in.
public protocol RouteContext: Sendable {
    associatedtype Caller: Sendable

    /// Throws 401 or 403 where the caller may not do this. `realm` is the realm that the path
    /// names: nil where it names none, or none that there could be.
    func admit(
        _ request: Request, to right: Right, realm: RealmID?
    ) async throws(Problem) -> Caller
}

/// What a caller must be allowed to do.
public enum Right: String, Sendable {
    /// Anybody may.
    case nothing
    /// To manage the realm that the path names.
    case realm
    /// To manage all realms.
    case everything
}

/// One operation: everything about it in one value, from which requests are dispatched and checked
/// and `/openapi.json` is printed.
public struct Route<Context: RouteContext>: Sendable {
    public typealias Handler = @Sendable (Call<Context>) async throws(Problem) -> Response

    public let method: Method
    public let path: PathTemplate
    /// Unique in the table: clients are generated with it as a name.
    public let id: String
    public let tag: String
    public let summary: String
    let detail: String
    let right: Right
    let parameters: [Parameter]
    let body: Body?
    let answer: Answer
    /// What the operation itself may refuse, beside what every operation of its form may.
    let refusals: [ProblemKind]
    let handler: Handler

    init(
        _ method: Method, _ path: PathTemplate, id: String, tag: String, summary: String,
        detail: String = "", right: Right, parameters: [Parameter] = [], body: Body? = nil,
        answer: Answer, refusals: [ProblemKind] = [], handler: @escaping Handler
    ) {
        let inPath = parameters.filter { $0.place == .path }.map(\.name)
        precondition(Set(inPath) == Set(path.parameters), "A path's parameters are declared.")
        precondition(
            Set(parameters.map(\.name)).count == parameters.count, "A parameter is declared once.")
        precondition(
            right != .realm || inPath.contains("realm"), "A realm's right needs a realm.")
        self.method = method
        self.path = path
        self.id = id
        self.tag = tag
        self.summary = summary
        self.detail = detail
        self.right = right
        self.parameters = parameters
        self.body = body
        self.answer = answer
        self.refusals = refusals
        self.handler = handler
    }
}

/// A body that an operation takes: always JSON.
struct Body: Sendable {
    let schema: Schema
    let example: JSON
}

/// What an operation answers when it went well.
struct Answer: Sendable {
    enum Content: Sendable {
        case nothing
        case json(Schema, example: JSON)
        case text(String)
        case bytes
    }

    let status: Status
    let description: String
    let content: Content
    /// Name and description of every header that the answer has beside the usual ones.
    var headers: [(name: String, description: String)] = []
}

extension Route {
    /// Every problem that this operation may answer with.
    var problems: Set<ProblemKind> {
        var kinds = Set(refusals).union([.internalError, .unknownParameter, .invalidParameter])
        if !parameters.isEmpty { kinds.insert(.repeatedParameter) }
        if parameters.contains(where: { $0.isRequired && $0.place != .path }) {
            kinds.insert(.missingParameter)
        }
        if body != nil {
            kinds.formUnion([
                .malformedJSON, .missingField, .unknownField, .invalidField,
                .unsupportedMediaType,
            ])
        } else if method != .get {
            kinds.insert(.unexpectedBody)
        }
        // Whoever is asked for a key has it looked up in what the log says.
        if right != .nothing {
            kinds.formUnion([
                .unauthenticated, .forbidden, .busy, .contended, .unavailable, .logDamaged,
            ])
        }
        if parameters.contains(where: { $0.name == Parameter.idempotencyKey.name }) {
            kinds.insert(.idempotencyKeyReused)
        }
        return kinds
    }
}
