import Foundation
import Testing

@testable import HTTPClient

private let mail = Array("Subject: Hello\r\n\r\nA body.\r\n.leading dot\r\n".utf8)

/// What the server says that it took.
private struct Taken: Decodable {
    let from: String
    let to: [String]
    let options: [String]
    let hello: String
    let encrypted: Bool
    let login: String?
    let content: Data

    init(_ server: ChildServer) throws {
        self = try JSONDecoder().decode(Taken.self, from: Data((server.line() ?? "").utf8))
    }
}

private func relay(
    _ server: ChildServer, _ security: SMTPServer.Security = .none, user: String? = nil,
    password: [UInt8] = [], caFile: String? = nil, timeout: Duration = .seconds(20)
) throws -> SMTPClient {
    var relay = SMTPServer(
        host: "127.0.0.1", port: server.port, security: security, user: user, password: password,
        caFile: caFile, helloName: "urd.example")
    relay.timeout = timeout
    return try SMTPClient(relay)
}

private func failure(
    _ client: SMTPClient, from sender: String = "urd@example.org",
    to recipient: String = "anna@example.org", message: [UInt8] = mail
) async -> SMTPFailure? {
    do throws(SMTPFailure) {
        try await client.send(from: sender, to: recipient, message: message)
        return nil
    } catch {
        return error
    }
}

@Suite struct `A mail server in the clear` {
    @Test func `a mail is received byte for byte by a mail server in the clear`() async throws {
        let server = try ChildServer("smtp_server.py")
        try await relay(server).send(
            from: "urd@example.org", to: "anna+tag@example.org", message: mail)
        let taken = try Taken(server)
        #expect(taken.from == "urd@example.org")
        #expect(taken.to == ["anna+tag@example.org"])
        #expect(taken.hello == "urd.example")
        #expect(!taken.encrypted)
        #expect(taken.login == nil)
        #expect(Array(taken.content) == mail)
    }

    @Test func `a mail server in the clear takes mails without a sender, and many at once`()
        async throws
    {
        let server = try ChildServer("smtp_server.py")
        let client = try relay(server)
        await withTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    await failure(client, from: "", to: "user\(number)@example.org")
                }
            }
            for await failure in group { #expect(failure == nil) }
        }
        var recipients: Set<String> = []
        for _ in 0..<20 { recipients.formUnion(try Taken(server).to) }
        #expect(recipients.count == 20)
    }

    @Test(arguments: [
        ("urd@example.org", "450-later@example.org", "x", 450, SMTPFailure.Kind.temporary, "4.2.1"),
        ("421-later@example.org", "anna@example.org", "x", 421, .temporary, "4.3.2"),
        ("urd@example.org", "anna@example.org", "450 later", 450, .temporary, "4.2.1"),
        ("urd@example.org", "550-never@example.org", "x", 550, .permanent, "5.1.1"),
        ("552-full@example.org", "anna@example.org", "x", 552, .permanent, "5.2.2"),
        ("urd@example.org", "anna@example.org", "552 full", 552, .permanent, "5.2.2"),
    ])
    func `a mail server's temporary and permanent refusals are told apart`(
        sender: String, recipient: String, subject: String, code: Int, kind: SMTPFailure.Kind,
        status: String
    ) async throws {
        let server = try ChildServer("smtp_server.py")
        let message = Array("Subject: \(subject)\r\n\r\nA body.\r\n".utf8)
        let found = await failure(
            try relay(server), from: sender, to: recipient, message: message)
        #expect(found?.kind == kind)
        #expect(found?.reason == .refused)
        #expect(found?.code == code)
        #expect(found?.enhancedStatus == status)
        #expect(found.map { "\($0)".contains("@") } == false)
    }

    @Test func `a mail server that demands a login is not the mail's fault`() async throws {
        let server = try ChildServer("smtp_server.py")
        let found = await failure(try relay(server), to: "530-login@example.org")
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .loginRefused)
        #expect(found?.code == 530)
    }

    @Test(arguments: ["greeting", "mail", "rcpt", "data"])
    func `a mail server that hangs is given up in time`(stage: String) async throws {
        let server = try ChildServer("smtp_server.py", ["--hang", stage])
        let client = try relay(server, timeout: .milliseconds(500))
        let started = ContinuousClock.now
        let found = await failure(client)
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .timeout)
        #expect(found?.code == nil)
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test func `a mail server that hangs after taking the mail counts as having taken it`()
        async throws
    {
        let server = try ChildServer("smtp_server.py", ["--hang", "quit"])
        let client = try relay(server, timeout: .seconds(1))
        let started = ContinuousClock.now
        #expect(await failure(client) == nil)
        #expect(ContinuousClock.now - started < .seconds(20))
        #expect(try Taken(server).from == "urd@example.org")
    }

    @Test(arguments: ["greeting", "mail", "rcpt", "data"])
    func `a mail server that hangs up is tried again later`(stage: String) async throws {
        let server = try ChildServer("smtp_server.py", ["--close", stage])
        let found = await failure(try relay(server))
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .broken)
        #expect(found?.code == nil)
    }

    @Test func `a mail server that is down is tried again later`() async throws {
        // Port 1 belongs to nobody.
        let client = try SMTPClient(SMTPServer(host: "127.0.0.1", port: 1, security: .none))
        #expect(await failure(client)?.reason == .unreachable)
        let nobody = try SMTPClient(
            SMTPServer(host: "nobody.invalid", port: 25, security: .none))
        let found = await failure(nobody)
        #expect(found?.reason == .unknownHost)
        #expect(found?.kind == .temporary)
    }

    @Test func `a mail that could smuggle another is not sent to a mail server`() async throws {
        let server = try ChildServer("smtp_server.py")
        let client = try relay(server)
        for message in [
            "", "A", "A\n", "A\r", "A\r\nB\n.\nMAIL FROM:<x>\r\n", "A\rB\r\n", "A\r\r\n", "ä\r\n",
            "A\0\r\n", String(repeating: "a", count: 999) + "\r\n",
        ] {
            let found = await failure(client, message: Array(message.utf8))
            #expect(found?.reason == .invalid, "\(message.debugDescription)")
            #expect(found?.kind == .permanent)
        }
        for address in [
            "a@b>\r\nRCPT TO:<c@d", "a@b\r\nDATA", "a b@c", "<a@b>", "a@b,c@d", "@b", "a@", "a",
            "ä@b", "a@b@c", "a\0@b", "\"a\"@b", String(repeating: "a", count: 260) + "@b",
        ] {
            #expect(await failure(client, from: address)?.reason == .invalid, "\(address)")
            #expect(await failure(client, to: address)?.reason == .invalid, "\(address)")
        }
        let longest = String(repeating: "a", count: 998) + "\r\n"
        #expect(await failure(client, message: Array(longest.utf8)) == nil)
    }
}

@Suite struct `A mail server with TLS` {
    private let certificates: Certificates
    private let password = Array("pass \(UInt64.random(in: 0 ... .max)) wörd".utf8)

    init() throws { certificates = try Certificates() }

    private func server(
        _ security: String, certificate: String = "server", login: Bool = true
    ) throws -> ChildServer {
        let login =
            login ? ["--user", "urd", "--password", String(decoding: password, as: UTF8.self)] : []
        return try ChildServer(
            "smtp_server.py",
            ["--security", security] + certificates.arguments(for: certificate) + login)
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `a mail server with TLS takes user and password`(security: SMTPServer.Security)
        async throws
    {
        let server = try server(security.rawValue.lowercased())
        try await relay(
            server, security, user: "urd", password: password, caFile: certificates.authority
        ).send(from: "urd@example.org", to: "anna@example.org", message: mail)
        let taken = try Taken(server)
        #expect(taken.encrypted)
        #expect(taken.login == "urd")
        #expect(Array(taken.content) == mail)
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `a mail server with TLS that refuses the password is not the mail's fault`(
        security: SMTPServer.Security
    ) async throws {
        let server = try server(security.rawValue.lowercased())
        let found = await failure(
            try relay(
                server, security, user: "urd", password: password + [0x21],
                caFile: certificates.authority))
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .loginRefused)
        #expect(found?.code == 535)
        #expect(found.map { $0.debugDescription.contains("wörd") } == false)
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `a mail server without a trusted certificate gets no mail`(security: SMTPServer.Security)
        async throws
    {
        let server = try server(security.rawValue.lowercased())
        let found = await failure(try relay(server, security, user: "urd", password: password))
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .untrusted)
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `a mail server with another host's certificate gets no mail`(security: SMTPServer.Security)
        async throws
    {
        let server = try server(security.rawValue.lowercased(), certificate: "stranger")
        let found = await failure(
            try relay(
                server, security, user: "urd", password: password,
                caFile: certificates.authority))
        #expect(found?.reason == .untrusted)
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `a mail server with TLS is never replaced by one in the clear`(
        security: SMTPServer.Security
    ) async throws {
        let server = try ChildServer("smtp_server.py")
        let found = await failure(
            try relay(server, security, caFile: certificates.authority, timeout: .seconds(3)))
        #expect(found?.reason == .untrusted)
        #expect(found?.kind == .temporary)
    }

    @Test func `a mail server with TLS gets no mail while the file of certificates is missing`()
        async throws
    {
        let server = try server("tls", login: false)
        let found = await failure(try relay(server, .tls, caFile: "/nowhere/ca.pem"))
        #expect(found?.reason == .untrusted)
    }
}

@Suite struct `The settings of a mail server` {
    @Test(arguments: [
        SMTPServer(host: "", port: 25, security: .none),
        SMTPServer(host: "a b", port: 25, security: .none),
        SMTPServer(host: "mail/../x", port: 25, security: .none),
        SMTPServer(host: "user@mail", port: 25, security: .none),
        SMTPServer(host: "mail:26", port: 25, security: .none),
        SMTPServer(host: "mail", port: 0, security: .none),
        SMTPServer(host: "mail", port: 25, security: .none, user: "a", password: [0x61]),
        SMTPServer(host: "mail", port: 25, security: .tls, user: "a", password: [0]),
        SMTPServer(host: "mail", port: 25, security: .tls, user: "a\r\n", password: [0x61]),
        SMTPServer(host: "mail", port: 25, security: .tls, password: [0x61]),
        SMTPServer(host: "mail", port: 25, security: .tls, helloName: "a\r\nMAIL"),
        SMTPServer(host: "mail", port: 25, security: .tls, helloName: "a?b"),
        SMTPServer(host: "mail", port: 25, security: .tls, helloName: ""),
    ])
    func `a mail server's settings are refused when they cannot work or are unsafe`(
        server: SMTPServer
    ) {
        #expect(throws: SMTPFailure(.permanent, .invalid, "")) { try SMTPClient(server) }
    }

    @Test(arguments: [
        ("Mail.example", "smtp://Mail.example:25/localhost"), ("::1", "smtp://[::1]:25/localhost"),
        ("127.0.0.1", "smtp://127.0.0.1:25/localhost"),
    ])
    func `a mail server's settings make a URL`(host: String, url: String) {
        let server = SMTPServer(host: host, port: 25, security: .none)
        #expect(server.url == url)
        #expect(server.fault == nil)
    }

    @Test func `a mail server's settings show no password`() {
        let password = "secret-\(UInt64.random(in: 0 ... .max))"
        let server = SMTPServer(
            host: "mail", port: 25, security: .tls, user: "a", password: Array(password.utf8))
        var dumped = "\(server) \(String(reflecting: server))"
        dump(server, to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(!dumped.contains("115"))
    }

    @Test(arguments: [
        ("550 5.1.1 no such user", "5.1.1"), ("550 5.1.1", "5.1.1"), ("550-5.7.26 x", nil),
        ("550 no such user", nil), ("550 5.1 x", nil), ("550 6.1.1 x", nil),
        ("550 5.1.1111 x", nil), ("", nil), ("550", nil),
    ])
    func `a mail server's enhanced status is told from its text`(reply: String, status: String?) {
        #expect(SMTPFailure.enhancedStatus(reply) == status)
    }
}
