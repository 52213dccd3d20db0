import Testing

@testable import HTTPClient

@Suite struct `A hostile mail server` {
    private func failure(
        _ mode: String, _ security: SMTPServer.Security = .none
    ) async throws -> (failure: SMTPFailure?, server: ChildServer) {
        let server = try ChildServer("hostile_smtp.py", [mode])
        var relay = SMTPServer(host: "127.0.0.1", port: server.port, security: security)
        if security != .none {
            relay.user = "urd"
            relay.password = Array("password".utf8)
        }
        relay.timeout = .seconds(5)
        let client = try SMTPClient(relay)
        do throws(SMTPFailure) {
            try await client.send(
                from: "urd@example.org", to: "anna@example.org",
                message: Array("Subject: x\r\n\r\nx\r\n".utf8))
            return (nil, server)
        } catch {
            return (error, server)
        }
    }

    @Test(arguments: ["endless-line", "endless-greeting", "endless-ehlo"])
    func `a hostile mail server cannot fill the memory`(mode: String) async throws {
        let started = ContinuousClock.now
        let found = try await failure(mode).failure
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .broken || found?.reason == .timeout)
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test(arguments: [("closed-for-mail", 554), ("no-hello", 550), ("junk", nil)])
    func `a mail server that refuses the connection does not fail the mail`(
        mode: String, code: Int?
    ) async throws {
        let found = try await failure(mode).failure
        #expect(found?.kind == .temporary)
        #expect(found?.reason == .broken)
        #expect(found?.code == code)
    }

    @Test func `a hostile mail server's long refusal is cut`() async throws {
        let found = try await failure("huge-refusal").failure
        #expect(found?.kind == .permanent)
        #expect(found?.code == 550)
        #expect(found?.enhancedStatus == "5.1.1")
    }

    @Test func `a hostile mail server's unintelligible answers end the attempt`() async throws {
        let found = try await failure("odd-code").failure
        #expect(found?.kind == .temporary)
        #expect(found?.code == nil)
    }

    @Test func `a mail server's answers before TLS are discarded`() async throws {
        let (found, server) = try await failure("starttls", .startTLS)
        #expect(found?.kind == .temporary)
        #expect(found != nil)
        // Neither user nor mail was sent in the clear: a handshake begins, or nothing at all.
        #expect(server.line() == "True")
    }
}
