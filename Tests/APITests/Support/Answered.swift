import HTTP
import JSON
import Testing

@testable import API

/// A response, read.
struct Answered {
    let response: Response
    let json: JSON

    init(_ response: Response) {
        self.response = response
        json = (try? JSON.parse(response.body)) ?? .null
    }

    var status: Status { response.status }

    /// Where a list goes on that has more.
    var nextPage: String? { json["more"] == true ? json["next"]?.string : nil }

    /// The kind of the problem, if it is one.
    var problem: ProblemKind? {
        guard response.headers["Content-Type"] == "application/problem+json" else { return nil }
        return (json["type"]?.string?.split(separator: "/").last).flatMap {
            ProblemKind(rawValue: String($0))
        }
    }

    var field: String? { json["field"]?.string }

    /// Every answer is held against it.
    private static let admin = RouteTree(API.table)

    /// Holds the response to what its route promises: status, kind of problem, headers and body.
    func checkAsPromised(_ request: Request) throws {
        checkHeaders(request)
        if response.status.code >= 400 { try checkProblem() }
        let place = Self.admin.find(request.path)
        guard let route = place?.route(for: request.method) else { return }
        let label = "\(request.method.rawValue) \(route.path) \(response.status)"
        guard response.status.code < 400 else {
            let kind = try #require(problem, "\(label)")
            #expect(route.problems.contains(kind), "\(label) \(kind) is not documented")
            return
        }
        #expect(response.status == route.answer.status, "\(label) is not documented")
        for (name, _) in route.answer.headers {
            #expect(response.headers[name] != nil, "\(label) lacks \(name)")
        }
        switch route.answer.content {
        case .nothing: #expect(response.body.isEmpty)
        case .json(let schema, _):
            #expect(response.headers["Content-Type"] == "application/json")
            if response.stream != nil { break }
            do {
                try schema.check(try JSON.parse(response.body))
            } catch {
                Issue.record("\(label): the body is not as documented: \(error)")
            }
        case .text(let type): #expect(response.headers["Content-Type"] == type)
        case .bytes(let type): #expect(response.headers["Content-Type"] == type)
        case .stream(let types):
            #expect(types.contains(response.headers["Content-Type"] ?? ""))
            #expect(response.stream != nil)
        }
    }

    private func checkHeaders(_ request: Request) {
        let headers = response.headers
        #expect(headers["X-Content-Type-Options"] == "nosniff")
        #expect(headers["Referrer-Policy"] == "no-referrer")
        #expect(headers["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        // The server puts the request's own there: what is made here may be told to others too.
        #expect(headers["X-Request-Id"] == nil)
        if request.path.hasPrefix("/api/") { #expect(headers["Cache-Control"] == "no-store") }
        #expect(headers["Cache-Control"] != nil)
        if response.status == .serviceUnavailable { #expect(headers["Retry-After"] != nil) }
        if response.status == .unauthorized { #expect(headers["WWW-Authenticate"] != nil) }
        if response.status == .methodNotAllowed { #expect(headers["Allow"] != nil) }
    }

    private func checkProblem() throws {
        let kind = try #require(problem, "\(String(decoding: response.body, as: UTF8.self))")
        #expect(kind.status == response.status)
        #expect(throws: Never.self) { try Problem.schema.check(json) }
        #expect(json["title"]?.string == kind.title)
    }
}
