import JSON

/// A client that acts for itself.
struct Service: Sendable {
    let server: DevelopmentServer
    private let name = "service-\(UInt32.random(in: 0 ... .max))"
    private let secret: String

    init(_ server: DevelopmentServer) throws {
        self.server = server
        let client = try server.administer(
            "POST", "/clients",
            """
            {"client_id": "\(name)", "grant_types": ["client_credentials"], "scope": "jobs",
                "token_endpoint_auth_method": "client_secret_post"}
            """)
        secret = client["client_secret"]?.string ?? ""
    }

    private var form: String { "client_id=\(name)&client_secret=\(secret)" }
    private var asking: String { "grant_type=client_credentials&scope=jobs&\(form)" }

    /// Asks for a token.
    var request: [UInt8] { server.requests.post("/connect/token", asking) }

    func introspection(of token: String) -> [UInt8] {
        server.requests.post("/connect/introspect", "token=\(token)&\(form)")
    }

    func token() throws -> String {
        let answer = try Line(port: server.port).send(request)
        guard let token = answer.json?["access_token"]?.string else { throw answer.failure }
        return token
    }

    var tokens: Wrk.Asking { server.posting("/connect/token", asking) }

    func introspections(of token: String) -> Wrk.Asking {
        server.posting("/connect/introspect", "token=\(token)&\(form)")
    }
}

extension DevelopmentServer {
    func getting(_ path: String, bearer: String? = nil) -> Wrk.Asking {
        Wrk.Asking(
            url: "http://127.0.0.1:\(port)\(path)",
            script: """
                wrk.headers["Host"] = "\(requests.host)"
                \(bearer.map { "wrk.headers[\"Authorization\"] = \"Bearer \($0)\"" } ?? "")
                """)
    }

    func posting(_ path: String, _ body: String) -> Wrk.Asking {
        Wrk.Asking(
            url: "http://127.0.0.1:\(port)\(path)",
            script: """
                wrk.method = "POST"
                wrk.body = "\(body)"
                wrk.headers["Host"] = "\(requests.host)"
                wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
                """)
    }
}
