internal import EventSourcing
public import HTTP
internal import JSON
public import Telemetry
internal import Values

/// Answers requests from one table of routes: finds the route, lets the caller in, checks the
/// parameters and the body, and gives every answer the headers, the metric and the log line that
/// all of them have.
public struct Router<Context: RouteContext>: Sendable {
    private let tree: RouteTree<Context>
    private let context: Context
    private let log: Log
    private let seconds: Family<Histogram>

    /// `name` tells the metrics of several routers apart: it begins their names.
    public init(
        _ table: [Route<Context>], context: Context, log: Log, metrics: Metrics,
        name: String = "urd_http"
    ) {
        precondition(
            Set(table.map(\.id)).count == table.count, "An operation's name stands for one route.")
        self.tree = RouteTree(table)
        self.context = context
        self.log = log
        seconds = metrics.histogram(
            "\(name)_request_seconds", help: "How long requests took, by route.",
            labels: ["route", "method", "status"], maximumSeries: (table.count + 2) * 8)
    }

    public func respond(to request: Request) async -> Response {
        let start = ContinuousClock.now
        let place = tree.find(request.path)
        var response: Response
        do {
            response = try await answer(request, at: place)
        } catch {
            response = error.response(to: request)
        }
        harden(&response, request)
        let duration = ContinuousClock.now - start
        report(request, place, response, duration)
        return response
    }

    private func answer(
        _ request: Request, at place: RouteTree<Context>.Place?
    ) async throws(Problem) -> Response {
        guard let place else { throw Problem(.noSuchRoute) }
        guard let route = place.route(for: request.method) else {
            if request.method == .options {
                var response = Response(status: .noContent, headers: Headers(), body: [])
                response.headers["Allow"] = place.allow
                return response
            }
            var problem = Problem(.methodNotAllowed, "This path knows \(place.allow).")
            problem.headers.append(("Allow", place.allow))
            throw problem
        }
        let holes = place.holes.map { Percent.decode($0) }
        let realm = zip(place.template.parameters, holes).first { $0.0 == "realm" }?.1
        let caller = try await context.admit(
            request, to: route.right, realm: realm.flatMap { RealmID($0) })
        var parameters = try route.pathParameters(holes)
        try route.readQuery(request.query, into: &parameters)
        try route.readHeaders(request.headers, into: &parameters)
        let call = Call(
            request: request, context: context, caller: caller, route: route,
            parameters: parameters, body: try route.readBody(request))
        return try await route.handler(call)
    }

    private func harden(_ response: inout Response, _ request: Request) {
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; frame-ancestors 'none'"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Request-Id"] = request.id
        if request.path == "/api" || request.path.utf8.starts(with: "/api/".utf8) {
            response.headers["Cache-Control"] = "no-store"
        }
    }

    /// A template stands for the path: it has no names of tenants in it, and there are only so many.
    private func report(
        _ request: Request, _ place: RouteTree<Context>.Place?, _ response: Response,
        _ duration: Duration
    ) {
        let route = place?.template.description ?? "unmatched"
        let status = "\(response.status.code / 100)xx"
        seconds[route, request.method.rawValue, status].observe(duration)
        let (whole, parts) = duration.components
        let microseconds = whole &* 1_000_000 &+ parts / 1_000_000_000_000
        log.forRequest(request.id).info(
            "http.request",
            [
                "route": .string(route), "method": .string(request.method.rawValue),
                "status": .integer(Int64(response.status.code)),
                "microseconds": .integer(microseconds),
            ])
    }
}
