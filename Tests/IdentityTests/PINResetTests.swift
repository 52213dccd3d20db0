import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A code that resets a PIN` {
    private func tenant(_ purpose: IssuedCode.Purpose) throws -> Scenario {
        try givenTenant().given(pin(), in: methodsStream).given(
            MailboxEvent.assigned(account), try issued(purpose), in: mailbox)
    }

    private func signIn() throws -> SignInBrowser<OTPGrant> {
        SignInBrowser(
            OTPGrant(mailbox: mailbox, digest: try digest(1), account: app), by: .code,
            session: session, digest: try digest(5), now: noon)
    }

    private func reset() throws -> ResetPIN {
        ResetPIN(
            owner: methodOwner, mailbox: mailbox, shown: ShownSecret([try digest(1)]),
            hash: "scrypt$2", app: nil, mail: mail, now: noon)
    }

    private func names<C: Command>(_ command: C, in world: Scenario) async throws -> [String] {
        (try? await world.when(command).result.get())?.events.map(\.name) ?? []
    }

    @Test func `a PIN is reset by a mailed code, which is used up, also where it is locked`()
        async throws
    {
        let mailed = try issued(.pinReset)
        var locked = try givenTenant().given(pin(), in: methodsStream).given(
            MailboxEvent.assigned(account), mailed, in: mailbox)
        for _ in 0..<TenantMethods.guesses { locked = locked.given(wrongPIN, in: methodsStream) }
        func reset(_ byte: UInt8 = 1, hash: String? = "scrypt$2", after seconds: Int64 = 0) throws
            -> ResetPIN
        {
            ResetPIN(
                owner: methodOwner, mailbox: mailbox, shown: ShownSecret([try digest(byte)]),
                hash: hash, app: nil, mail: mail,
                now: noon.adding(seconds: seconds))
        }
        var done = Decision(MailboxEvent.codeRedeemed(code), in: mailbox)
        done.append(pin("scrypt$2"), in: methodsStream)
        try await locked.when(try reset()).then(done)
        try await locked.when(try reset(hash: nil)).thenNothing()
        try await locked.when(try reset(2)).then(
            MailboxEvent.codeRefused(code, at: noon), in: mailbox)
        try await locked.when(try reset(after: 600)).thenRejected(.noCode)
        try await locked.given(done).when(try reset()).thenRejected(.noCode)
        try await locked.given(AccountEvent.stampRotated(mail: session), in: account)
            .when(try reset()).thenRejected(.noCode)
        try await locked.given(AccountEvent.disabled(), in: account).when(try reset())
            .thenRejected(.notWelcome)
        // The address is another account's now.
        try await locked.given(MailboxEvent.assigned(app), in: mailbox).when(try reset())
            .thenRejected(.notWelcome)
    }

    @Test func `a code that resets a PIN signs nobody in, and a sign-in code resets no PIN`()
        async throws
    {
        let (signingIn, resetting) = (try tenant(.signIn), try tenant(.pinReset))
        #expect(try await names(signIn(), in: signingIn).contains("browser.opened"))
        #expect(try await !names(signIn(), in: resetting).contains("browser.opened"))
        #expect(try await names(reset(), in: resetting).contains("app_method.pin_set"))
        try await signingIn.when(reset()).thenRejected(.noCode)
    }

    @Test func `a code that resets a PIN is sent to who has an account alone`() async throws {
        var command = RequestOTP(
            route: .pinReset, mailbox: mailbox, person: reader, code: code,
            digest: try digest(1), now: noon)
        command.isForPage = true
        let world = try givenTenant(["registration": "jit_on_otp", "otp_lifetime": 600])
        try await world.when(command).thenNothing()
        try await world.given(MailboxEvent.assigned(account), in: mailbox).when(command).then(
            issued(.pinReset), in: mailbox)
        try await world.given(MailboxEvent.assigned(account), in: mailbox)
            .given(AccountEvent.disabled(), in: account).when(command).thenNothing()
    }
}
