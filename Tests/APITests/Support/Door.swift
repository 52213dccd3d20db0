import Cryptography
import EventSourcing
import HTTP
import JSON
import Synchronization
import Telemetry
import Testing
import Values

@testable import API

/// A context that lets clients in by a secret of theirs, and accounts by a token.
struct DoorContext: RouteContext {
    let host: String
    let secret: String

    func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) throws(Problem) -> String {
        switch route.right {
        case .nothing: return "nobody"
        case .realm, .everything: throw Problem(.forbidden)
        case .client:
            guard let client else { throw Problem(.internalError) }
            switch client.proof {
            case .basic(let shown), .post(let shown):
                guard shown == secret else { throw Problem(.invalidClient) }
            case .none, .assertion: break
            }
            return client.clientID ?? "assertion"
        case .account, .bearer, .service:
            guard let line = request.headers["Authorization"] else {
                throw Problem(.unauthenticated)
            }
            guard line == "Bearer \(secret)" else { throw Problem(.invalidToken) }
            return "account"
        }
    }
}

/// A small table of each dialect, which answers with what it read.
struct Door {
    let router: Router
    let secret = Hex.encode(UUID.random().bytes)

    static let token = Route<DoorContext>(
        .post, "/connect/token", id: "token", tag: "OAuth", summary: "Gives tokens.",
        right: .client, voice: .oauth,
        body: .form(
            .object(
                ClientCredentials.members + [
                    .required("grant_type", .text(1...100), "Which grant."),
                    .optional("scope", .text(1...1000), "What for."),
                    .optional("count", .integer(1...9), "A number."),
                    .optional("flag", .boolean, "A flag."),
                    .optional(
                        "resource", .list(of: .text(1...100), 1...3), "For which resources."),
                ]), example: ["grant_type": "refresh_token", "client_id": "demo"],
            maximumBytes: 2000),
        answer: .ok("Read.", .openObject, example: [:]),
        refusals: [.invalidGrant, .rateLimited, .mfaRequired]
    ) { call throws(Problem) in
        switch call.body["grant_type"]?.string {
        case "bad": throw Problem(.invalidGrant, "Invalid \"or\" expired\\ cöde.\n")
        case "busy": throw Problem(.busy)
        case "much": throw Problem(RateLimitRefusal(.oauthToken, .client, after: 1_500_000_000))
        case "mfa":
            var problem = Problem(.mfaRequired)
            problem.members["methods"] = ["totp"]
            throw problem
        default: break
        }
        var response = Response.json(
            .ok,
            ["body": call.body, "caller": .string(call.caller), "at": .string(call.context.host)])
        response.headers["Set-Cookie"] = "a=b"
        return response
    }

    static let account = Route<DoorContext>(
        .get, "/connect/userinfo", id: "userinfo", tag: "OAuth", summary: "Tells who it is.",
        right: .account, voice: .oauth,
        answer: .ok("Read.", .openObject, example: [:]), refusals: [.insufficientScope]
    ) { call throws(Problem) in
        if call.request.query == "far" { throw Problem(.insufficientScope) }
        return .json(.ok, ["caller": .string(call.caller)])
    }

    static let keys = Route<DoorContext>(
        .get, "/.well-known/jwks", id: "keys", tag: "OAuth", summary: "Keys.", right: .nothing,
        voice: .oauth, answer: .ok("Keys.", .openObject, example: [:])
    ) { _ throws(Problem) in
        var response = Response.json(.ok, [:])
        response.headers["Cache-Control"] = "public, max-age=60"
        return response
    }

    static let native = Route<DoorContext>(
        .post, "/api/account/native/otp/request", id: "requestOTP", tag: "Native",
        summary: "Asks for a code.", right: .nothing, voice: .native,
        body: Body(
            schema: .object(
                .required("Email", .text(1...100), "The mailbox."),
                .optional("FirstName", .text(1...100), "The name."),
                .optional(
                    "Response", .object(.optional("clientDataJSON", .text(0...9), "Data.")),
                    "Deep.")),
            example: ["Email": "a@example.com"]),
        answer: .ok("Read.", .openObject, example: [:]),
        refusals: [.nativeGrantsDisabled, .rateLimited, .invalidEnrollment, .passkeyUnavailable]
    ) { call throws(Problem) in
        switch call.body["FirstName"]?.string {
        case "off": throw Problem(.nativeGrantsDisabled)
        case "stale": throw Problem(.invalidEnrollment, "Enrollment session expired.")
        case "domain": throw Problem(.passkeyUnavailable)
        case "much": throw Problem(RateLimitRefusal(.nativeOTP, .target, after: 1))
        default: return .json(.ok, call.body)
        }
    }

    static let table = [token, account, keys, native]

    init() {
        let secret = secret
        router = Router(
            [
                .init(HealthRoutes.table, context: HealthContext(metrics: Metrics()) { [] }),
                .init(Self.table) { request, _ throws(Problem) in
                    guard let host = request.headers["Host"] else { throw Problem(.unknownHost) }
                    return DoorContext(host: host, secret: secret)
                },
            ], log: .silent, metrics: Metrics())
    }

    func post(
        _ form: String, query: String? = nil,
        type: String? = "application/x-www-form-urlencoded", authorization: [String] = [],
        host: String? = "a.example"
    ) async -> Answered {
        await send(
            .post, "/connect/token", query: query, form, type: type,
            authorization: authorization, host: host)
    }

    func send(
        _ method: Method, _ path: String = "/connect/token", query: String? = nil,
        _ body: String = "", type: String? = nil,
        authorization: [String] = [], host: String? = "a.example"
    ) async -> Answered {
        var headers: Headers = [:]
        headers["Host"] = host
        headers["Content-Type"] = type
        for line in authorization { headers.append("Authorization", line) }
        return Answered(
            await router.respond(
                to: Request(
                    method: method, path: path, query: query, headers: headers,
                    body: Array(body.utf8), source: "192.0.2.1", id: "r")))
    }

    func ask(_ json: String) async -> Answered {
        await send(
            .post, "/api/account/native/otp/request", json, type: "application/json")
    }
}

extension UUID {
    static func random() -> UUID {
        var random = SystemRandom()
        return .v7(at: Timestamp(microseconds: 1_795_224_225_000_000), using: &random)
    }
}
