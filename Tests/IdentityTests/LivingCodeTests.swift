import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// Whoever knows an address asks for codes to it as often as the limits let them.
@Suite struct `Codes that others asked for as well` {
    private let other = UUID(high: 8, low: 9)
    private let third = UUID(high: 8, low: 10)

    private func request(
        at seconds: Int64, _ route: RequestOTP.Route = .signIn, code: UUID? = nil,
        digest byte: UInt8 = 2, asLink: Bool = false
    ) throws -> RequestOTP {
        var command = RequestOTP(
            route: route, mailbox: mailbox, person: reader, code: code ?? other,
            digest: try digest(byte), now: noon.adding(seconds: seconds))
        if asLink { command.base = "https://id.acme.example" }
        return command
    }

    private func known() throws -> Scenario {
        try givenNativeRealm(["otp_resend_delay": 0]).given(registeredAccount(), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
    }

    private func redeem(_ byte: UInt8, at seconds: Int64) throws -> RedeemGrant<OTPGrant> {
        RedeemGrant(
            OTPGrant(mailbox: mailbox, digest: try digest(byte), account: account),
            GrantRequest(
                client: client, clientID: "web", proof: .none, scope: [], session: session,
                now: noon.adding(seconds: seconds)))
    }

    private func names(_ byte: UInt8, at seconds: Int64, in world: Scenario) async throws
        -> [String]
    {
        (try? await world.when(redeem(byte, at: seconds)).result.get())?.events.map(\.name) ?? []
    }

    private func at(_ seconds: Int64) -> Timestamp { noon.adding(seconds: seconds) }

    @Test func `a request mails the code again that another one brought, which stays good`()
        async throws
    {
        let world = try known().given(issued(.signIn), in: mailbox)
        try await world.when(request(at: 599)).then(
            issued(.signIn, at: at(599), id: other, repeating: code), in: mailbox)
        let asked = try world.given(
            issued(.signIn, at: at(599), id: other, repeating: code), in: mailbox)
        #expect(try await names(1, at: 1_198, in: asked).contains("session.opened"))
        #expect(try await !names(1, at: 1_199, in: asked).contains("session.opened"))
        #expect(try await names(2, at: 600, in: asked) == ["otp.refused", "session.refused"])
    }

    @Test
    func `a code that is as old as its lifetime is not repeated, and stays good beside the next`()
        async throws
    {
        let world = try known().given(issued(.signIn), in: mailbox).given(
            issued(.signIn, at: at(599), id: other, repeating: code), in: mailbox)
        try await world.when(request(at: 600, code: third)).then(
            issued(.signIn, digest: 2, at: at(600), id: third), in: mailbox)
        let both = try world.given(
            issued(.signIn, digest: 2, at: at(600), id: third), in: mailbox)
        for byte: UInt8 in [1, 2] {
            #expect(try await names(byte, at: 1_198, in: both).contains("session.opened"))
        }
        // The right one ends them all.
        for id in [other, third] {
            let used = both.given(MailboxEvent.codeRedeemed(id), in: mailbox)
            for byte: UInt8 in [1, 2] {
                #expect(try await !names(byte, at: 700, in: used).contains("session.opened"))
            }
        }
    }

    @Test func `a wrong guess counts for every code that it could have been`() async throws {
        var world = try known().given(issued(.signIn), in: mailbox).given(
            issued(.signIn, at: at(599), id: other, repeating: code), in: mailbox
        ).given(issued(.signIn, digest: 2, at: at(600), id: third), in: mailbox)
        for guess in 0..<3 {
            #expect(try await names(1, at: 700, in: world).contains("session.opened"))
            world = world.given(
                MailboxEvent.codeRefused(third, at: at(Int64(601 + guess))), in: mailbox)
        }
        for byte: UInt8 in [1, 2] {
            #expect(try await !names(byte, at: 700, in: world).contains("session.opened"))
        }
        // What guesses ended is not mailed again.
        try await world.when(request(at: 700, code: code, digest: 3)).then(
            issued(.signIn, digest: 3, at: at(700)), in: mailbox)
    }

    @Test func `a request for a code to reset a PIN ends no code to sign in with`() async throws {
        let world = try known().given(issued(.signIn), in: mailbox)
        let expected = try issued(.pinReset, digest: 2, at: at(1), id: other)
        var command = try request(at: 1, .pinReset)
        command.isForPage = true
        try await world.when(command).then(expected, in: mailbox)
        let asked = world.given(expected, in: mailbox)
        #expect(try await names(1, at: 2, in: asked).contains("session.opened"))
        #expect(try await !names(2, at: 2, in: asked).contains("session.opened"))
    }

    @Test func `links of several pages are good beside each other, and beside digits`() async throws
    {
        func page(_ number: Int) throws -> IssuedCode {
            var code = IssuedCode(
                id: UUID(high: 80, low: UInt64(number)), purpose: .signIn,
                digest: try digest(UInt8(100 + number)), app: nil, issuedAt: noon,
                expiresAt: at(600), person: reader)
            code.base = "https://id.acme.example"
            return code
        }
        var world = try known().given(issued(.signIn), in: mailbox)
        for number in 0..<16 {
            world = world.given(MailboxEvent.codeIssued(try page(number)), in: mailbox)
        }
        try await world.when(request(at: 1, asLink: true)).thenNothing()
        world = world.given(MailboxEvent.codeConfirmed(try page(0).id), in: mailbox)
        #expect(try await names(1, at: 2, in: world).contains("session.opened"))
        var grant = OTPGrant(mailbox: mailbox, shown: ShownSecret([]), account: account)
        for (number, isGood) in [(0, true), (1, false)] {
            grant.confirmed = try page(number).id
            let shown = RedeemGrant(
                grant,
                GrantRequest(
                    client: client, clientID: "web", proof: .none, scope: [], session: session,
                    now: at(2)))
            let found = (try? await world.when(shown).result.get())?.events.map(\.name) ?? []
            #expect(found.contains("session.opened") == isGood)
        }
    }

    @Test func `a request for a magic link ends none that was mailed before`() async throws {
        func mailed(_ number: UInt64, at seconds: Int64) throws -> MailboxEvent {
            .linkIssued(
                IssuedLink(
                    id: UUID(high: 81, low: number), account: account,
                    digest: try digest(UInt8(number)), app: nil, issuedAt: at(seconds),
                    expiresAt: at(seconds + 900), base: "https://id.acme.example",
                    returnPath: nil, mail: mail, person: reader))
        }
        var world = try givenLinkedRealm()
        for number in 1...8 as ClosedRange<UInt64> {
            world = try world.given(mailed(number, at: Int64(number)), in: mailbox)
        }
        for byte: UInt8 in [1, 8] {
            let grant = RedeemGrant(
                MagicLinkGrant(account: account, shown: ShownSecret([try digest(byte)])),
                GrantRequest(
                    client: client, clientID: "web", proof: .none, scope: [], session: session,
                    now: at(300)))
            let found = try await world.when(grant).result.get().events.map(\.name)
            #expect(found.contains("session.opened"), "\(byte)")
        }
        // As many as may be: the person has them all.
        let another = RequestMagicLink(
            mailbox: mailbox, person: reader, link: link, digest: try digest(1),
            base: "https://id.acme.example", mail: mail, now: at(300))
        try await world.when(another).thenNothing()
    }
}
