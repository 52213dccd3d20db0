import Glibc
import JSON

/// Somebody who reads their mail, in the inbox of `urd dev`: one thread at a time.
final class Mailbox: @unchecked Sendable {
    private let door: Line
    private let inbox: Line
    private let requests: Requests
    /// The newest mail of each address.
    private var newest: [String: String] = [:]

    init(_ server: DevelopmentServer) throws {
        door = try Line(port: server.port)
        inbox = try Line(port: server.innerPort)
        requests = server.requests
    }

    /// The refresh token that signing in brings.
    func signIn(_ address: String, scope: String = "openid+offline_access") throws -> String {
        if newest[address] == nil {
            let mails = try inbox.send(requests.get("/inbox?to=\(address)")).json?.array
            newest[address] = mails?.first?["id"]?.string
        }
        let asked = try door.send(
            requests.post(
                "/api/account/native/otp/request", #"{"Email": "\#(address)"}"#,
                type: "application/json"))
        guard asked.status == 200 else { throw asked.failure }
        let answer = try door.send(
            requests.post(
                "/connect/token",
                "grant_type=urn:cocoar:otp&client_id=demo-native&username=\(address)&otp_code="
                    + "\(try code(address))&scope=\(scope)"))
        guard let token = answer.refreshToken else { throw answer.failure }
        return token
    }

    /// The name of the account that signing in brings.
    func account(_ address: String) throws -> String {
        let tokens = try door.send(requests.refresh(try signIn(address)))
        guard let access = tokens.json?["access_token"]?.string else { throw tokens.failure }
        let person = try door.send(requests.get("/connect/userinfo", token: access))
        guard let account = person.json?["sub"]?.string else { throw person.failure }
        return account
    }

    /// Mails of the figure before may still be on their way.
    func code(_ address: String) throws -> String {
        for _ in 0..<12 {
            let after = newest[address].map { "&after=\($0)" } ?? ""
            let path = "/inbox?to=\(address)&wait=10\(after)"
            let mails = try inbox.send(requests.get(path)).json?.array
            guard let newest = mails?.first, let text = newest["text"]?.string else { continue }
            self.newest[address] = newest["id"]?.string
            let numbers = text.split(whereSeparator: { !$0.isNumber })
            if let code = numbers.first(where: { $0.utf8.count == 6 }) { return String(code) }
        }
        throw BenchmarkFailure("No mail came.")
    }

    /// So many people, each with a refresh token.
    static func signIn(_ count: Int, _ server: DevelopmentServer) async throws -> [String] {
        let mailbox = try Mailbox(server)
        return try (0..<count).map { try mailbox.signIn("refresher-\($0)@example.org") }
    }
}
