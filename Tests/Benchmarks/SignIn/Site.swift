import Cryptography
import JSON
import Values

/// The site of a client whose users sign in on our pages.
struct Site: Sendable {
    let server: DevelopmentServer
    /// Its client, of the figure that it is for.
    let client: String

    static let back = "https://site.example/back"
    /// Of this verifier, which is as good as any here.
    private static let verifier = String(repeating: "v", count: 43)

    var host: String { "localhost:\(server.port)" }
    var requests: Requests { Requests(host: host) }

    init(_ server: DevelopmentServer, client: String) throws {
        self.server = server
        self.client = client
        _ = try server.administer(
            "POST", "/clients",
            """
            {"client_id": "\(client)", "grant_types": ["authorization_code", "refresh_token"],
                "redirect_uris": ["\(Self.back)"], "token_endpoint_auth_method": "none",
                "consent": "none", "id_token_signed_response_alg": "ES256"}
            """)
    }

    /// Where its users' browsers are sent.
    var authorizing: String {
        let challenge = Base64URL.encode(SHA256.hash(Array(Self.verifier.utf8)))
        return "/connect/authorize?response_type=code&client_id=\(client)&scope=openid"
            + "&redirect_uri=https%3A%2F%2Fsite.example%2Fback&state=1234567890&nonce=0987654321"
            + "&code_challenge=\(challenge)&code_challenge_method=S256"
    }

    /// Takes the code to the tokens.
    func redeem(_ place: Substring, over line: Line) throws {
        guard place.hasPrefix(Self.back), let name = place.firstRange(of: "code=") else {
            throw BenchmarkFailure("No code came: \(place)")
        }
        let code = place[name.upperBound...].prefix { $0 != "&" }
        let answer = try line.send(
            requests.post(
                "/connect/token",
                "grant_type=authorization_code&client_id=\(client)&code=\(code)"
                    + "&redirect_uri=https%3A%2F%2Fsite.example%2Fback"
                    + "&code_verifier=\(Self.verifier)"))
        guard answer.status == 200 else { throw answer.failure }
    }
}

/// As much of a browser as it takes to sign in: cookies, forms and redirections.
final class Browser {
    private var line: Line
    private let port: UInt16
    private let host: String
    private var cookies: [Substring: Substring] = [:]

    convenience init(_ site: Site) throws {
        try self.init(port: site.server.port, host: site.host)
    }

    init(port: UInt16, host: String) throws {
        line = try Line(port: port)
        self.port = port
        self.host = host
    }

    /// A connection that rested for long is closed by the server.
    func reconnect() throws { line = try Line(port: port) }

    func forget() { cookies = [:] }

    func get(_ path: some StringProtocol) throws -> Line.Answer {
        try send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(cookie)\r\n")
    }

    func post(_ path: String, _ form: String = "") throws -> Line.Answer {
        try send(
            """
            POST \(path) HTTP/1.1\r\nHost: \(host)\r\n\(cookie)Origin: http://\(host)\r\n\
            Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n\
            Content-Length: \(form.utf8.count)\r\n\r\n\(form)
            """)
    }

    /// From the client's site to the code that is brought back to it, with a passkey on the way if
    /// nobody is signed in.
    func code(for site: Site, _ holder: PasskeyHolder) throws -> Substring {
        let first = try place(try get(site.authorizing))
        guard !first.hasPrefix(Site.back) else { return first }
        let page = try get(first)
        guard let guarding = page.value(of: "name=\"form\" value=\"") else { throw page.failure }
        let begun = try post("/login/passkey/begin").json
        guard let ceremony = begun?["ceremonyId"]?.string, let options = begun?["options"] else {
            throw BenchmarkFailure("No ceremony began.")
        }
        let assertion = try holder.escapedAssertion(options, origin: "http://\(host)")
        let onward = page.value(of: "name=\"continue\" value=\"").map { "&continue=\($0)" } ?? ""
        let done = try post(
            "/login/passkey",
            "form=\(guarding)&ceremony=\(ceremony)&assertion=\(assertion)\(onward)")
        let next = try place(done)
        return next.hasPrefix(Site.back) ? next : try place(try get(next))
    }

    func place(_ answer: Line.Answer) throws -> Substring {
        guard let place = answer.fields("\r\nLocation: ").first else { throw answer.failure }
        return place
    }

    private var cookie: String {
        cookies.isEmpty
            ? ""
            : "Cookie: " + cookies.map { "\($0)=\($1)" }.joined(separator: "; ") + "\r\n"
    }

    private func send(_ request: String) throws -> Line.Answer {
        let answer = try line.send(Array(request.utf8))
        for cookie in answer.fields("\r\nSet-Cookie: ") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
        return answer
    }
}

extension Line.Answer {
    /// Of a hidden field of the first form that has it: it is named by the markup before its value.
    func value(of field: StaticString) -> Substring? {
        guard let place = Line.place(of: field, in: body) else { return nil }
        let value = body[(place + field.utf8CodeUnitCount)...].prefix { $0 != 34 }
        return Substring(decoding: value, as: UTF8.self)
    }
}
