import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// The log was slow, and the caller was told 503 before it was done.
@Suite struct `A late response` {
    /// Begins a request that nobody waits for any more, while the log is slow.
    private func abandon(
        _ world: SignInWorld, _ request: @escaping @Sendable () async throws -> Answered
    ) async throws -> Task<Answered, any Error> {
        world.log.hold()
        let task = Task { try await request() }
        while world.log.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        return task
    }

    private func isAlive(_ tokens: JSON, _ world: SignInWorld) async throws -> Bool {
        try await world.refresh(tokens, "phone").status == .ok
    }

    @Test(arguments: [true, false])
    func `a late response goes to the repeated request, and the session lives on`(isEarly: Bool)
        async throws
    {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "refresh_token_leeway": 0,
        ])
        let tokens = try await world.signIn("phone").json
        let first = try await abandon(world) { try await world.refresh(tokens, "phone") }
        let again = Task {
            if !isEarly { _ = await first.result }
            return try await world.refresh(tokens, "phone")
        }
        if isEarly { try await Task.sleep(for: .milliseconds(20)) }
        world.log.release()
        let answer = try await again.value
        #expect(answer.status == .ok, "\(answer.json)")
        #expect(try await isAlive(answer.json, world))
        #expect(try await !world.events().contains("session.ended"))
        // Once: the next one is somebody who shows a used token.
        #expect(try await world.refresh(tokens, "phone").json["error"] == "invalid_grant")
        #expect(try await world.events().contains("session.ended"))
    }

    @Test func `a late response to a code goes to its repeat alone`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let first = try await abandon(world) { try await world.redeem(code) }
        world.log.release()
        _ = await first.result
        let other = try await world.redeem(code, scope: "openid")
        #expect(other.json["error"] == "invalid_grant")
        let again = try await world.redeem(code)
        #expect(again.status == .ok, "\(again.json)")
        #expect(try await isAlive(again.json, world))
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
    }

    @Test(arguments: [(299, Status.ok), (300, .badRequest)] as [(Int64, Status)])
    func `a late response is kept for five minutes`(seconds: Int64, status: Status) async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "refresh_token_leeway": 0,
        ])
        let tokens = try await world.signIn("phone").json
        let first = try await abandon(world) { try await world.refresh(tokens, "phone") }
        world.log.release()
        _ = await first.result
        world.clock.advance(seconds: seconds)
        #expect(try await world.refresh(tokens, "phone").status == status)
    }

    @Test func `a late response goes to all who wait for it, and to nobody afterwards`()
        async throws
    {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "refresh_token_leeway": 0,
        ])
        let tokens = try await world.signIn("phone").json
        let first = try await abandon(world) { try await world.refresh(tokens, "phone") }
        let waiting = (0..<5).map { _ in Task { try await world.refresh(tokens, "phone") } }
        for _ in 0..<500 { await Task.yield() }
        world.log.release()
        _ = await first.result
        var answers: Set<String> = []
        for task in waiting {
            let answer = try await task.value
            // Who came only now is too late where another had it meanwhile.
            if answer.status == .ok { answers.insert(answer.json["refresh_token"]?.string ?? "") }
        }
        #expect(answers.count == 1)
        #expect(try await world.refresh(tokens, "phone").json["error"] == "invalid_grant")
    }

    @Test func `a late refusal is repeated, and its guess counts once`() async throws {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let code = try await world.mailedCode()
        let first = try await abandon(world) { try await world.redeem("000000") }
        let again = Task { try await world.redeem("000000") }
        try await Task.sleep(for: .milliseconds(20))
        world.log.release()
        _ = await first.result
        #expect(try await again.value.json["error"] == "invalid_grant")
        #expect(try await world.events().count { $0 == "otp.refused" } == 1)
        #expect(try await world.redeem(code).status == .ok)
    }
}
