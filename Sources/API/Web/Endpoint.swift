internal import EventSourcing
internal import HTTP
internal import JSON

/// A route together with where its context comes from: routes of any context stand in one tree.
struct Endpoint: Outlined, Sendable {
    let outline: Outline
    let answer: @Sendable (Request, _ holes: [String]) async throws(Problem) -> Response
    /// The cache of the endpoint's responses, if they are the same for all callers.
    let responseCache: @Sendable (Request) -> ResponseCache?

    init<Context>(
        _ route: Route<Context>,
        context: @escaping @Sendable (Request, Outline) async throws(Problem) -> Context,
        responseCache: @escaping @Sendable (Request) -> ResponseCache? = { _ in nil }
    ) {
        outline = route.outline
        self.responseCache = responseCache
        answer = { request, holes throws(Problem) in
            let context = try await context(request, route.outline)
            do throws(Problem) {
                return try await route.answer(request, holes, in: context)
            } catch {
                guard route.outline.voice.caution.contains(.isOfPages) else { throw error }
                var problem = error
                problem.owner = context.owner
                throw problem
            }
        }
    }
}

extension Route {
    /// Lets the caller in, reads what the outline describes, and asks the handler.
    ///
    /// A caller without the right learns nothing of what else is wrong with their request, with one
    /// exception: a client shows who it is in the body, so that the body is read first.
    fileprivate func answer(
        _ request: Request, _ holes: [String], in context: Context
    ) async throws(Problem) -> Response {
        let holes = holes.isEmpty ? [] : holes.map { Percent.decode($0) }
        let realm =
            holes.isEmpty
            ? nil : zip(outline.path.parameters, holes).first { $0.0 == "realm" }?.1
        var body: JSON?
        var client: ClientCredentials?
        if outline.right == .client {
            let read = try outline.readBody(request)
            client = try ClientCredentials(request, body: read)
            body = read
        }
        let caller = try await context.admit(
            request, to: outline, realm: realm.flatMap { RealmID($0) }, client: client)
        var parameters = try outline.pathParameters(holes)
        try outline.readQuery(request.query, into: &parameters)
        try outline.readHeaders(request.headers, into: &parameters)
        if body == nil { body = try outline.readBody(request) }
        let call = Call(
            request: request, context: context, caller: caller, outline: outline,
            client: client, parameters: parameters, body: body ?? .null)
        return try await context.answer(call, by: handler)
    }
}
