internal import EventSourcing
public import HTTP
internal import JSON
public import Telemetry

/// Answers requests from tables of routes: finds the route, lets the caller in, checks the
/// parameters and the body, and gives every answer the headers, the metric and the log line that
/// all of them have.
public struct Router: Sendable {
    /// Routes that share a context, and where that comes from.
    public struct Table: Sendable {
        let endpoints: [Endpoint]

        /// One context for all requests.
        public init<Context>(_ routes: [Route<Context>], context: Context) {
            self.init(routes) { _, _ throws(Problem) in context }
        }

        /// A context for each request, made when its route is found: whom it is for may depend on
        /// its host.
        public init<Context>(
            _ routes: [Route<Context>],
            context: @escaping @Sendable (Request, Outline) async throws(Problem) -> Context
        ) {
            self.init(routes, context: context, responseCache: { _ in nil })
        }

        init<Context>(
            _ routes: [Route<Context>],
            context: @escaping @Sendable (Request, Outline) async throws(Problem) -> Context,
            responseCache: @escaping @Sendable (Request) -> ResponseCache?
        ) {
            endpoints = routes.map { Endpoint($0, context: context, responseCache: responseCache) }
        }
    }

    /// How browsers are answered where no route does.
    public struct Pages: Sendable {
        let voice: Voice
        /// Whose pages they are, where that is known; throws where the host leads nowhere.
        let owner: @Sendable (Request) async throws(Problem) -> (any PageOwner)?
    }

    private let tree: RouteTree<Endpoint>
    /// The routes of all realms: so few that comparing takes less than looking up.
    private let shared: [(path: String, place: RouteTree<Endpoint>.Match, endpoint: Endpoint)]
    private let log: Log
    private let seconds: RouteSeconds
    /// The request for the page that its host opens with: see `RouteTraits.isFirstPage`.
    private let lead: @Sendable (Request) async -> Request
    private let pages: Pages?

    /// `name` tells the metrics of several routers apart: it begins their names.
    public init(
        _ tables: [Table], log: Log, metrics: Metrics, name: String = "urd_http",
        lead: @escaping @Sendable (Request) async -> Request = { $0 },
        pages: Pages? = nil
    ) {
        self.lead = lead
        self.pages = pages
        let endpoints = tables.flatMap(\.endpoints)
        precondition(
            Set(endpoints.map(\.outline.id)).count == endpoints.count,
            "An operation's name stands for one route.")
        let tree = RouteTree(endpoints)
        self.tree = tree
        shared = endpoints.filter { $0.outline.traits.contains(.sameForEveryone) }.compactMap {
            endpoint in
            let path = endpoint.outline.path.description
            return tree.find(path).map { (path, $0, endpoint) }
        }
        self.log = log
        seconds = RouteSeconds(
            metrics.histogram(
                "\(name)_request_seconds", help: "How long requests took, by route.",
                labels: ["route", "method", "status"], maximumSeries: (endpoints.count + 2) * 8))
    }

    public init<Context>(
        _ routes: [Route<Context>], context: Context, log: Log, metrics: Metrics,
        name: String = "urd_http"
    ) {
        self.init([Table(routes, context: context)], log: log, metrics: metrics, name: name)
    }

    /// The cached response, where there is one that still holds: there is nothing to wait for.
    public func ready(for request: Request) -> Response? {
        guard let (place, responseCache) = responseCache(for: request) else { return nil }
        let start = ContinuousClock.now
        guard let response = responseCache[request.path] else { return nil }
        report(request, place, response, ContinuousClock.now - start)
        return response
    }

    private func responseCache(for request: Request) -> (RouteTree<Endpoint>.Match, ResponseCache)?
    {
        guard request.method == .get, request.query == nil,
            let known = shared.first(where: { $0.path == request.path }),
            let responseCache = known.endpoint.responseCache(request)
        else { return nil }
        return (known.place, responseCache)
    }

    public func respond(to request: Request) async -> Response {
        if let ready = ready(for: request) { return ready }
        let start = ContinuousClock.now
        let (request, place) = await find(request)
        let responseCache = responseCache(for: request)?.1
        let scope = RequestScope()
        let response = await RequestScope.$current.withValue(scope) {
            await giveUp { await make(request, at: place) }
        }
        if response.status == .ok { responseCache?.put(response, at: request.path) }
        report(request, place, response, ContinuousClock.now - start, scope)
        return response
    }

    /// Where the request belongs, and as what: a host may open with another page than the first.
    private func find(_ request: Request) async -> (Request, RouteTree<Endpoint>.Match?) {
        let place = tree.find(request.path)
        guard let place, place.traits.contains(.isFirstPage) else { return (request, place) }
        let led = await lead(request)
        return (led, tree.find(led.path))
    }

    /// Has all that works for a request know when its caller is told that it takes too long.
    private func giveUp(_ work: () async -> Response) async -> Response {
        let scope = RequestScope.current
        return await withTaskCancellationHandler {
            await work()
        } onCancel: {
            scope?.leave()
        }
    }

    private func make(_ request: Request, at place: RouteTree<Endpoint>.Match?) async -> Response {
        let voice = place?.voice ?? voice(beside: request)
        var response: Response
        do {
            response = try await answer(request, at: place)
        } catch {
            let problem = voice.caution.contains(.isOfPages) ? await owned(error, request) : error
            response = problem.response(to: request, in: voice)
            if place?.traits.contains(.forTenantScripts) == true, !error.isClosedToScripts {
                CrossOriginAccess.mayReadRefusal(&response, request)
            }
        }
        finish(&response, to: request, at: place, in: voice)
        return response
    }

    /// The response for an unknown path.
    private func voice(beside request: Request) -> Voice {
        if request.isOfSomebodyWhoReads, let pages { return pages.voice }
        guard let voice = tree.voice(beside: request.path), !voice.caution.contains(.isOfPages)
        else { return .plain }
        return voice
    }

    /// The problem in the look of its host. At a host that leads nowhere no path is right, so an unknown path
    /// is not what its reader has to mend.
    private func owned(_ problem: Problem, _ request: Request) async -> Problem {
        guard problem.owner == nil, let pages else { return problem }
        do throws(Problem) {
            var problem = problem
            problem.owner = try await pages.owner(request)
            return problem
        } catch {
            let isOfPath = [.noSuchRoute, .methodNotAllowed].contains(problem.kind)
            return isOfPath && error.kind == .unknownHost ? error : problem
        }
    }

    /// What a request is told in our place that is not answered now, and why. Nil: the server's own words
    /// will do.
    public func unanswered(_ request: Request, because detail: String) -> Response? {
        guard let place = tree.find(request.path), place.voice != .plain else { return nil }
        var response = Problem(.busy, detail).response(to: request, in: place.voice)
        if place.traits.contains(.forTenantScripts) {
            CrossOriginAccess.mayReadRefusal(&response, request)
        }
        finish(&response, to: request, at: place, in: place.voice)
        return response
    }

    private func finish(
        _ response: inout Response, to request: Request, at place: RouteTree<Endpoint>.Match?,
        in voice: Voice
    ) {
        let traits = place?.traits ?? []
        harden(&response, voice.caution, traits)
        if traits.contains(.forScripts) { CrossOriginAccess.mayRead(&response) }
    }

    private func answer(
        _ request: Request, at place: RouteTree<Endpoint>.Match?
    ) async throws(Problem) -> Response {
        guard let place else { throw Problem(.noSuchRoute) }
        guard let route = place.route(for: request.method) else {
            if request.method == .options {
                var response = Response(status: .noContent, headers: Headers(), body: [])
                response.headers["Allow"] = place.allow
                if place.traits.contains(.forScripts) {
                    CrossOriginAccess.mayAsk(&response, place.allow)
                }
                if place.traits.contains(.forTenantScripts) {
                    CrossOriginAccess.mayAskWithCookies(&response, request, place.allow)
                }
                return response
            }
            var problem = Problem(.methodNotAllowed, "This path knows \(place.allow).")
            problem.headers.append(("Allow", place.allow))
            throw problem
        }
        return try await route.answer(request, place.holes)
    }

    /// A page says itself what it needs; nothing else is shown at all.
    private static let cautions: Headers = [
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
    ]

    private static let isFramed = Array("frame-ancestors http".utf8)

    /// No cache keeps an answer, unless its route says so.
    private func harden(
        _ response: inout Response, _ caution: Voice.Caution, _ traits: RouteTraits
    ) {
        response.headers.fill(from: Self.cautions)
        // The policy begins with the site that may show the page in a frame. Older browsers do not read it there.
        if response.headers["Content-Security-Policy"]?.utf8.starts(with: Self.isFramed) == true {
            response.headers.removeAll("X-Frame-Options")
        }
        if response.headers["Cache-Control"] == nil {
            response.headers["Cache-Control"] = "no-store"
            if caution.contains(.saysPragma) { response.headers["Pragma"] = "no-cache" }
        }
        if caution.contains(.setsNoCookies), !traits.contains(.setsCookies) {
            response.headers.removeAll("Set-Cookie")
        }
    }

    /// A template stands for the path: it has no names of tenants in it, and there are only so many.
    private func report(
        _ request: Request, _ place: RouteTree<Endpoint>.Match?, _ response: Response,
        _ duration: Duration, _ scope: RequestScope? = nil
    ) {
        let route = place?.template.description ?? "unmatched"
        seconds.of(route, request.method, response.status).observe(duration)
        let (whole, parts) = duration.components
        let microseconds = whole &* 1_000_000 &+ parts / 1_000_000_000_000
        var members: JSONObject = [
            "route": .string(route), "method": .string(request.method.rawValue),
            "status": .integer(Int64(response.status.code)),
            "microseconds": .integer(microseconds),
        ]
        if scope?.isSubjectSearch == true { members["subject_search"] = true }
        log.forRequest(request.id).info("http.request", members)
    }
}

extension Request {
    /// A request of a browser's user: at an unknown path it gets an HTML page.
    var isOfSomebodyWhoReads: Bool {
        method == .get && headers["Accept"].map { $0.lowercased().contains("text/html") } == true
    }
}
