import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// An app with people who are signed in to it, each with a refresh token.
final class AppWithPeople {
    let world: SignInWorld
    private(set) var tokens: [String] = []

    init(people: Int) async throws {
        world = try await SignInWorld()
        let queries = MemoryQueries(log: world.log)
        let phone = try #require(
            try await queries.ask(KnownClient.byClientID, "phone", in: world.realm))
        for _ in 0..<people {
            let account = UUID.random()
            try await world.carryOut(
                RegisterAccount(
                    account: account, addresses: Addresses(mailbox: .random()),
                    person: Person(email: "p\(tokens.count)@example.org"), isConfirmed: true))
            let now = world.clock.next()
            let terms = SessionTerms(
                account: account, stamp: 0, client: phone.id, clientID: "phone", app: nil,
                scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
                openedAt: now, expiresAt: now.adding(seconds: 86_400), isOffline: true,
                method: .nativeOTP)
            let session = UUID.random()
            try await world.carryOut(OpenSession(session: session, terms: terms))
            tokens.append(
                world.mint.refreshToken(
                    GrantedTokens(
                        session: session, generation: 0, terms: terms, scope: terms.scope,
                        resources: [], lifetime: 900)))
        }
    }

    func post(_ form: Pairs, from source: String) async throws -> Answered {
        try await world.send(
            Request(
                method: .post, path: "/connect/token", query: nil,
                headers: [
                    "Host": "id.acme.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                ], body: Array(Form.encode(form).utf8), source: source, id: "request-7"))
    }

    /// Nil: the token is over. Else the answer.
    func refresh(_ person: Int, from source: String) async throws -> Answered {
        let answer = try await post(
            [
                ("grant_type", "refresh_token"), ("client_id", "phone"),
                ("refresh_token", tokens[person]),
            ], from: source)
        if let next = answer.json["refresh_token"]?.string { tokens[person] = next }
        return answer
    }

    func guess(_ turn: Int, from source: String) async throws -> Answered {
        let kinds: [Pairs] = [
            [("grant_type", "refresh_token"), ("refresh_token", "urd_rt_\(turn)")],
            [("grant_type", "authorization_code"), ("code", "\(turn)")],
            [("grant_type", "urn:cocoar:magic"), ("user_id", "\(turn)")],
            [("grant_type", "nothing")],
        ]
        return try await post(
            [("client_id", "phone")] + kinds[turn % kinds.count], from: source)
    }
}

private struct OpenSession: Command {
    let session: UUID
    let terms: SessionTerms

    enum Rejection: Error, Equatable { case none }

    func gather(_ streams: some StreamReader) async throws(LogFailure) {
        _ = try await streams.read(Session.self, session)
    }

    func decide(_ facts: Void) throws(Rejection) -> Decision {
        Decision(SessionEvent.opened(terms), in: session)
    }
}
