import HTTP
import JSON
import LogTesting
import Telemetry
import Testing

@testable import API

@Suite struct `The router` {
    @Test(arguments: [
        "", "api", "//", "/api", "/api/", "/api/admin/", "/api/admin/realms/", "/API/admin/realms",
        "/api/admin/realms/acme/", "/api/admin//realms", "/api/admin/realms;x=1",
        "/api/admin/realms/acme/clients/", "/api/%61dmin/realms", "/openapi.json/", "/%2e%2e/",
        "/api/admin/realms/acme/../../keys", "/\u{0}", "/ä", "*",
    ])
    func `the router answers 404 where there is no route`(_ path: String) async throws {
        let world = try await World()
        for method in Method.allCases {
            let answer = try await world.send(method, path)
            #expect(answer.problem == .noSuchRoute, "\(method) \(path)")
        }
    }

    @Test func `the router answers browsers with a page where there is no route`() async throws {
        let world = try await World()
        for (method, accept, isPage) in [
            (Method.get, "text/html,application/xhtml+xml;q=0.9", true), (.get, "TEXT/HTML", true),
            (.get, "application/json", false), (.get, "*/*", false), (.post, "text/html", false),
        ] {
            let answer = await world.router.respond(
                to: Request(
                    method: method, path: "/<b>nothing", query: nil, headers: ["Accept": accept],
                    body: [], source: "::1", id: "r"))
            #expect(answer.status == .notFound)
            let page = String(decoding: answer.body, as: UTF8.self)
            #expect(page.contains("<h1>Page not found</h1>") == isPage, "\(method) \(accept)")
            #expect(!page.contains("<b>"))
            if isPage { PageCheck(page, "/nothing").check(answer) }
        }
    }

    @Test func `the router prefers a literal segment to a parameter`() async throws {
        let world = try await World()
        let answer = try await world.send(.get, "/api/admin/realms/acme/clients/clients")
        #expect(answer.problem == .noSuchClient)
    }

    @Test(arguments: [UInt64](1...20))
    func `the router survives any path, query, header and body`(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let world = try await World()
        func noise(_ most: Int) -> [UInt8] {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
        }
        for _ in 0..<100 {
            let route = try #require(API.table.randomElement(using: &random))
            var headers: Headers = [
                "Authorization": "Bearer \(world.key.text)", "Content-Type": "application/json",
            ]
            headers.append("Idempotency-Key", String(decoding: noise(20), as: UTF8.self))
            headers.append("traceparent", String(decoding: noise(60), as: UTF8.self))
            headers.append("User-Agent", String(decoding: noise(900), as: UTF8.self))
            let noisy = "/api/admin/realms/" + String(decoding: noise(30), as: UTF8.self)
            let answer = try await world.send(
                Request(
                    method: Method.allCases.randomElement(using: &random) ?? .get,
                    path: Bool.random(using: &random) ? world.path(route) : noisy,
                    query: String(decoding: noise(40), as: UTF8.self), headers: headers,
                    body: Bool.random(using: &random) ? noise(200) : Array("{".utf8),
                    source: "", id: "r"))
            #expect(answer.status.code < 500)
        }
    }

    @Test func `the router answers HEAD as GET and leaves the body to the server`() async throws {
        let world = try await World()
        let get = try await world.send(.get, "/api/admin/realms/acme")
        let head = try await world.send(.head, "/api/admin/realms/acme")
        #expect(head.response == get.response)
    }

    @Test func `the router logs one line per request without personal data`() async throws {
        let world = try await World()
        let before = world.lines.all.count
        _ = try await world.send(.get, "/api/admin/realms/acme", query: "secret=hush")
        let lines = world.lines.all.dropFirst(before)
        #expect(lines.count == 1)
        let line = try JSON.parse(Array((lines.first ?? "").utf8.dropLast()))
        #expect(line["event"] == "http.request")
        #expect(line["request"] == "request-1")
        #expect(line["route"] == "/api/admin/realms/{realm}")
        #expect(line["method"] == "GET")
        #expect(line["status"] == 400)
        #expect(line["microseconds"]?.integer != nil)
        for hidden in ["acme", "hush", "203.0.113.7", world.key.text] {
            #expect(!(lines.first ?? "").contains(hidden), "\(hidden)")
        }
    }

    @Test func `the router counts requests by route, never by path`() async throws {
        let world = try await World()
        for name in 0..<300 {
            _ = try await world.send(.get, "/nothing/\(name)")
            _ = try await world.send(.get, "/api/admin/realms/r\(name)")
        }
        let text = world.metrics.render()
        let series = text.split(separator: "\n").filter { $0.contains("_count{") }
        #expect(series.count < 20)
        #expect(
            text.contains(
                #"urd_http_request_seconds_count{route="unmatched",method="GET",status="4xx"} 300"#)
        )
        #expect(!text.contains("r299"))
    }

    @Test func `the router describes every kind of problem`() async throws {
        let world = try await World()
        for kind in ProblemKind.allCases {
            let answer = try await world.send(.get, kind.type)
            #expect(answer.json["title"] == .string(kind.title))
            #expect(answer.json["status"] == .integer(Int64(kind.status.code)))
            #expect(kind.status.code >= 400)
        }
        let unknown = try await world.send(.get, "/problems/no-such-thing")
        #expect(unknown.problem == .noSuchProblem)
    }

    @Test func `every kind of problem is declared by a route`() {
        var used: Set<ProblemKind> = [.noSuchRoute, .methodNotAllowed]
        for outline in API.outlines { used.formUnion(outline.problems) }
        let missing = used.symmetricDifference(ProblemKind.allCases)
        #expect(missing == ProblemKind.ofRealms)
    }
}

extension ProblemKind {
    /// What is told by ways of signing in that no route offers yet.
    static let ofRealms: Set<ProblemKind> = [
        .unsupportedTokenType, .internalLoginDisabled,
    ]
}

@Suite struct `The private listener` {
    private func ask(_ path: String, _ states: [ComponentState]) async -> Response {
        let metrics = Metrics()
        metrics.counter("urd_test_total", help: "A test.").add(3)
        let context = HealthContext(metrics: metrics, components: { states })
        let router = Router(
            HealthRoutes.table, context: context, log: .silent, metrics: metrics,
            name: "urd_private_http")
        return await router.respond(
            to: Request(
                method: .get, path: path, query: nil, headers: Headers(), body: [], source: "",
                id: "r"))
    }

    @Test func `the private listener answers the liveness probe`() async {
        let response = await ask("/health/live", [])
        #expect(response.status == .ok)
        #expect(response.body == Array(#"{"status":"live"}"#.utf8))
    }

    @Test func `the private listener is ready when all of its parts are ready`() async throws {
        let database = ComponentState(name: "database", isReady: true)
        let halted = ComponentState(
            name: "projection clients", isReady: false, detail: "halted at 7")
        let good = await ask("/health/ready", [database])
        #expect(good.status == .ok)
        let bad = await ask("/health/ready", [database, halted])
        #expect(bad.status == .serviceUnavailable)
        let body = try JSON.parse(bad.body)
        #expect(body["status"] == "not ready")
        #expect(body["components"]?["projection clients"]?["detail"] == "halted at 7")
        #expect(body["components"]?["database"]?["ready"] == true)
    }

    @Test func `the private listener stays ready with a part that needs attention`() async throws {
        let sealer = ComponentState(
            name: "sealer", isReady: true, detail: "halted", needsAttention: true)
        let answer = await ask("/health/ready", [sealer])
        #expect(answer.status == .ok)
        let body = try JSON.parse(answer.body)
        #expect(body["status"] == "ready")
        #expect(body["attention"] == true)
        #expect(body["components"]?["sealer"]?["attention"] == true)
        let calm = try JSON.parse(
            await ask("/health/ready", [ComponentState(name: "sealer", isReady: true)]).body)
        #expect(calm["attention"] == false)
        #expect(calm["components"]?["sealer"] == ["ready": true])
        let broken = try JSON.parse(
            await ask("/health/ready", [ComponentState(name: "sealer", isReady: false)]).body)
        #expect(broken["attention"] == true)
    }

    @Test func `the private listener renders the metrics`() async {
        let response = await ask("/metrics", [])
        #expect(response.headers["Content-Type"] == Metrics.contentType)
        #expect(response.body.contains("urd_test_total 3"))
    }

    @Test func `the private listener has no route of the public one`() async {
        #expect(await ask("/openapi.json", []).status == .notFound)
        #expect(await ask("/api/admin/realms", []).status == .notFound)
    }
}
