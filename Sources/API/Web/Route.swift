public import EventSourcing
public import HTTP
internal import Identity

/// What the handlers of one table work with, and who lets callers in.
public protocol RouteContext: Sendable {
    associatedtype Caller: Sendable

    /// Throws 401 or 403 where the caller may not do this. `route` says which right it takes. `realm` is the realm that the path
    /// names: nil where it names none, or none that there could be. `client` is what the caller
    /// shows of itself where the right asks for a client.
    func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) async throws(Problem) -> Caller

    /// Whose pages tell of a refusal, where the route answers with pages.
    var owner: (any PageOwner)? { get }

    /// Has a call handled that was let in, unless its answer is known.
    func answer(
        _ call: Call<Self>, by handler: Route<Self>.Handler
    ) async throws(Problem) -> Response
}

extension RouteContext {
    public var owner: (any PageOwner)? { nil }

    public func answer(
        _ call: Call<Self>, by handler: Route<Self>.Handler
    ) async throws(Problem) -> Response {
        try await handler(call)
    }
}

/// What a caller must be allowed to do.
public enum Right: String, Sendable {
    /// None: the route is public.
    case nothing
    /// To manage the realm that the path names.
    case realm
    /// To manage all realms.
    case everything
    /// To speak as a client of the realm that the host leads to.
    case client
    /// To look after the account that an access token was given to, by an app of the realm's own.
    case account
    /// To be told of a person what an access token of theirs reaches.
    case bearer
    /// To act for a client, by an access token that it was given for itself.
    case service
}

/// One operation: all about it in one value, and what it does.
@dynamicMemberLookup
public struct Route<Context: RouteContext>: Sendable, Outlined {
    public typealias Handler = @Sendable (Call<Context>) async throws(Problem) -> Response

    let outline: Outline
    let handler: Handler

    init(
        _ method: Method, _ path: PathTemplate, id: String, commandLine: CommandWords? = nil,
        tag: String,
        summary: String, detail: String = "", right: Right, permission: AdminPermission? = nil,
        voice: Voice = .plain,
        parameters: [Parameter] = [], body: Body? = nil, answer: Answer,
        refusals: [ProblemKind] = [], traits: RouteTraits = [],
        handler: @escaping Handler
    ) {
        outline = Outline(
            method: method, path: path, id: id, commandLine: commandLine, tag: tag,
            summary: summary, detail: detail,
            right: right, permission: permission, voice: voice, parameters: parameters, body: body,
            answer: answer,
            refusals: refusals, traits: traits)
        self.handler = handler
    }

    public subscript<Member>(dynamicMember member: KeyPath<Outline, Member>) -> Member {
        outline[keyPath: member]
    }
}
