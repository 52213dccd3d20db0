import EventSourcing
import HTTP
import Identity
import JSON
import Mail
import Testing
import Values

@testable import API

/// What people and administrators notice of a derive key that is replaced, and of one that is retired.
@Suite struct `A replaced derive key` {
    private let ask: JSONObject = ["Email": "ann@example.org"]

    @Test func `a code mailed before a new derive key is redeemed until the old key is retired`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        _ = try await world.requestCode(ask)
        var code = try await world.mailedCode()
        world.derivedKeys.rotate()
        #expect(try await world.redeem(code).status == .ok)

        _ = try await world.requestCode(ask)
        code = try await world.mailedCode()
        world.derivedKeys.rotate()
        world.derivedKeys.retire()
        #expect(try await world.redeem(code).status == .badRequest)
    }

    @Test func `a mail queued before a new derive key is sent as it was, until the key is retired`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        _ = try await world.requestCode(ask)
        let recorded = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "otp.issued" })
        guard case .codeIssued(let issued)? = MailboxEvent(recorded) else {
            Issue.record("no code was issued")
            return
        }
        let code = world.mint.code(issued.id)
        world.derivedKeys.rotate()
        #expect(world.mint.code(issued.id) != code)
        guard case .emailOtp(code, _)? = API.mails.order(for: recorded, world.mint)?.kind else {
            Issue.record("another code is mailed")
            return
        }
        world.derivedKeys.retire()
        #expect(API.mails.order(for: recorded, world.mint) == nil)
    }

    @Test func `a link mailed before a new derive key is opened until the old key is retired`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp"])
        _ = try await world.join()
        _ = try await world.requestLink(ask)
        let link = try await world.mailedLink()
        world.derivedKeys.rotate()
        #expect(try await world.mailedLink() == link)
        var retired = link
        #expect(try await world.redeem(link: link).status == .ok)
        _ = try await world.requestLink(ask)
        retired = try await world.mailedLink()
        world.derivedKeys.rotate()
        world.derivedKeys.retire()
        #expect(try await world.redeem(link: retired).status == .badRequest)
    }

    @Test func `a session refreshed under a new derive key survives the old key's retirement`()
        async throws
    {
        let world = try await SignInWorld()
        let (idle, active) = (try await world.join(), try await world.join())
        func refresh(_ tokens: JSON) async throws -> Answered {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "refresh_token"), ("client_id", "phone"),
                    ("refresh_token", tokens["refresh_token"]?.string ?? ""),
                ])
        }
        func userInfo(_ tokens: JSON) async throws -> Answered {
            try await world.userInfo(tokens["access_token"]?.string ?? "")
        }
        let subject = try await userInfo(active).json["sub"]
        world.derivedKeys.rotate()
        for tokens in [idle, active] { #expect(try await userInfo(tokens).status == .ok) }
        let refreshed = try await refresh(active)
        #expect(refreshed.status == .ok)

        world.derivedKeys.retire()
        #expect(try await userInfo(refreshed.json).status == .ok)
        #expect(try await userInfo(refreshed.json).json["sub"] == subject)
        #expect(try await refresh(refreshed.json).status == .ok)
        for tokens in [idle, active] { #expect(try await userInfo(tokens).status == .unauthorized) }
        #expect(try await refresh(idle).status == .badRequest)
    }

    @Test func `an account is found by its address also after a derive key's retirement`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let first = try await world.join()
        let subject = try await world.userInfo(first["access_token"]?.string ?? "").json["sub"]
        #expect(subject?.string != nil)
        world.derivedKeys.rotate()
        world.derivedKeys.retire()
        let second = try await world.join()
        #expect(
            try await world.userInfo(second["access_token"]?.string ?? "").json["sub"] == subject)
        #expect(try await world.events().count { $0 == "account.registered" } == 1)
    }

    @Test func `a new derive key keeps browsers signed in and accepts forms shown before`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.get("/login")
        world.derivedKeys.rotate()
        try await browser.askForCode()
        world.derivedKeys.rotate()
        try await browser.submit(
            "/login/code",
            browser.returnTarget + [("email", "ann@example.org"), ("code", try await code(world))])
        #expect(browser.answer?.status == .seeOther, "\(browser.page)")
        world.derivedKeys.rotate()
        world.derivedKeys.retire()
        #expect(try await browser.get("/account/data").status == .ok)
        #expect(browser.shows("ann@example.org"))

        // Its form is of a key that is retired.
        let other = PageBrowser(world)
        try await other.get("/login")
        world.derivedKeys.rotate()
        world.derivedKeys.retire()
        try await other.submit(
            "/login", other.returnTarget + [("email", "ann@example.org"), ("by", "email_code")])
        #expect(other.answer?.status == .forbidden)
    }

    /// As it is mailed.
    private func code(_ world: SignInWorld) async throws -> String {
        let recorded = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "otp.issued" })
        guard case .emailOtp(let code, _)? = API.mails.order(for: recorded, world.mint)?.kind else {
            return ""
        }
        return code
    }

    @Test func `a repeated write returns its first secret also under a new derive key`()
        async throws
    {
        let world = try await World()
        let writes: [(path: String, body: JSON, secret: (JSON) -> JSON?)] = [
            (
                "/api/admin/realms/acme/clients",
                ["client_name": "A", "redirect_uris": ["https://a.example/"]],
                { $0["client_secret"] }
            ),
            ("/api/admin/keys", ["name": "deployment"], { $0["key"] }),
            ("/api/admin/realms/acme/invites", ["count": 2], { $0["items"] }),
        ]
        var first: [JSON?] = []
        for write in writes {
            let answer = try await world.send(
                .post, write.path, body: write.body, idempotencyKey: write.path)
            first.append(write.secret(answer.json))
        }
        #expect(!first.contains(nil))
        world.derivedKeys.rotate()
        for (write, secret) in zip(writes, first) {
            let again = try await world.send(
                .post, write.path, body: write.body, idempotencyKey: write.path)
            #expect(write.secret(again.json) == secret, "\(write.path)")
            let other = try await world.send(
                .post, write.path, body: write.body, idempotencyKey: write.path + "-other")
            #expect(write.secret(other.json) != nil)
        }
        world.derivedKeys.retire()
        let client = try await world.send(
            .post, writes[0].path, body: writes[0].body, idempotencyKey: writes[0].path)
        #expect(client.status == .created && client.json["client_secret"] == nil)
        for write in writes.dropFirst() {
            let again = try await world.send(
                .post, write.path, body: write.body, idempotencyKey: write.path)
            #expect(again.problem == .idempotencyKeyReused, "\(write.path)")
            let other = try await world.send(
                .post, write.path, body: write.body, idempotencyKey: write.path + "-third")
            #expect(write.secret(other.json) != nil)
        }
    }
}
