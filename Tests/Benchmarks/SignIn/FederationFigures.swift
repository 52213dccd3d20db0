import Cryptography
import Glibc
import JSON
import Values

/// Devices of the federation profile: what their assertions, and each signed request, cost.
enum FederationFigures {
    static let all = [
        SignInFigures.Measured(
            name: "federation-token",
            summary: "devices that show themselves, and assertions redeemed at a service, in turns"
        ) { bench in
            let federation = try Federation(bench)
            let person = try federation.signIn("\(bench.name)-person")
            let each = bench.workshop.size(short: 40, full: 400)
            return try await bench.figure(beside: .commits, bar: 0.15) { _ in
                // Assertions are issued before: only showing and redeeming them is measured.
                let requests = try (0..<Bench.callers).map { caller in
                    try (0..<each).map { number -> [UInt8] in
                        guard number % 2 == 0 else {
                            return try federation.redemption(by: person).bytes
                        }
                        return federation.device("\(bench.name)-\(caller)").bytes
                    }
                }
                return try await bench.crowd(upTo: each) { caller in
                    let line = try Line(port: bench.server.port)
                    return {
                        let answer = try line.send(requests[caller][$0])
                        guard answer.status == 200 else { throw answer.failure }
                    }
                }.perSecond
            }
        },
        SignInFigures.Measured(
            name: "federation-mac", summary: "requests that a token's key signed, each once"
        ) { bench in
            let federation = try Federation(bench)
            let people = try (0..<Bench.callers).map {
                try federation.signIn("\(bench.name)-\($0)")
            }
            return try await bench.figure(beside: .plainAnswers, bar: 0.2) { seconds in
                try await bench.crowd(seconds: seconds) { caller in
                    let line = try Line(port: bench.server.port)
                    return {
                        let request = federation.signed(
                            "GET", "/eduid/user-profile", nil, by: people[caller])
                        let answer = try line.send(request.bytes)
                        guard answer.status == 200 else { throw answer.failure }
                    }
                }.perSecond
            }
        },
    ].map(SignInFigures.entry)
}

/// A token and the key that signs its requests.
private struct SigningToken: Sendable {
    let keyID: String
    let key: HMACKey

    init(_ answer: JSON) throws {
        guard let keyID = answer["kid"]?.string, let key = answer["mac_key"]?.string else {
            throw BenchmarkFailure("No token came.")
        }
        self.keyID = keyID
        self.key = HMACKey(Array(key.utf8))
    }
}

/// The demo realm of the profile, as an app asks it.
private struct Federation: Sendable {
    private let port: UInt16
    private let host: String
    private let origin: String
    private let values: [String: String]
    private let version: HMACKey

    struct Request {
        let bytes: [UInt8]
    }

    init(_ bench: Bench) throws {
        port = bench.server.port
        values = bench.server.values
        guard let host = values["URD_FEDERATION_HOST"],
            let key = values["URD_FEDERATION_CLIENT_KEY"]
        else { throw BenchmarkFailure("dev.env has no federation.") }
        self.host = host
        origin = "http://\(host)"
        version = HMACKey(Array(key.utf8))
        _ = try bench.server.administer(
            "PATCH", "/settings", #"{"uniform_delay": 0}"#, realm: "federation")
    }

    /// A device shows the key of its app's version.
    func device(_ name: String) -> Request {
        let claims: JSON = [
            "iss": .string(client), "aud": .string("\(origin)/eduid/token"), "sub": .string(name),
            "name": .string(name), "iat": .integer(Self.moment() / 1_000_000),
            "seq": .integer(Self.moment()),
        ]
        return request(
            "POST", "/eduid/token", ["grant_type": "client_credentials"],
            "Bearer \(Self.token(claims, kid: client, by: version))")
    }

    /// A person on a device of that name.
    func signIn(_ name: String) throws -> SigningToken {
        let device = try SigningToken(try ask(device(name)))
        return try SigningToken(
            try ask(
                signed(
                    "POST", "/eduid/token",
                    [
                        "grant_type": "password",
                        "username": .string(values["URD_FEDERATION_USER"] ?? ""),
                        "password": .string(values["URD_FEDERATION_PASSPHRASE"] ?? ""),
                    ], by: device)))
    }

    /// The request that redeems an assertion which is issued for it.
    func redemption(by person: SigningToken) throws -> Request {
        let issued = try ask(
            signed(
                "POST", "/eduid/authorization",
                [
                    "request_type": "code",
                    "redirect_uri": .string(values["URD_FEDERATION_SERVICE_URL"] ?? ""),
                ], by: person))
        guard let code = issued["code"] else { throw BenchmarkFailure("No assertion came.") }
        return request(
            "POST", "/eduid/services/\(values["URD_FEDERATION_SERVICE_ID"] ?? "")/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": code,
            ], nil)
    }

    func signed(
        _ method: String, _ path: String, _ body: JSON?, by token: SigningToken
    ) -> Request {
        let time = Self.moment()
        let text = "\(method) \(path) HTTP/1.1\n\(time)\n\(host)\n"
        let mac = Base64URL.encode(token.key.authenticate(Array(text.utf8)))
        return request(method, path, body, "MAC kid=\(token.keyID),ts=\(time),mac=\(mac)")
    }

    private var client: String { values["URD_FEDERATION_CLIENT_ID"] ?? "" }

    private func ask(_ request: Request) throws -> JSON {
        let answer = try Line(port: port).send(request.bytes)
        guard answer.status == 200, let json = answer.json else { throw answer.failure }
        return json
    }

    private func request(
        _ method: String, _ path: String, _ body: JSON?, _ authorization: String?
    ) -> Request {
        let body = body.map { String(decoding: $0.canonical(), as: UTF8.self) } ?? ""
        let line = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        let content =
            body.isEmpty
            ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        return Request(
            bytes: Array(
                "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(line)\(content)\r\n\(body)".utf8))
    }

    private static func token(_ claims: JSON, kid: String, by key: HMACKey) -> String {
        let header: JSON = ["alg": "HS256", "kid": .string(kid)]
        let input =
            Base64URL.encode(header.canonical()) + "." + Base64URL.encode(claims.canonical())
        return input + "." + Base64URL.encode(key.authenticate(Array(input.utf8)))
    }

    /// Microseconds.
    private static func moment() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
