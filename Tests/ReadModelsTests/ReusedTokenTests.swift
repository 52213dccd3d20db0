import EventSourcing
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `A reused token` {
    private let world: World
    private let account = UUID(high: 1, low: 1)
    private let client = UUID(high: 9, low: 9)
    private let realm: RealmID

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
    }

    private func opened(
        _ session: UUID, _ method: String, of account: UUID?
    ) -> Happening {
        let holder = account.map { #""account":"\#($0)","# } ?? ""
        return Happening(
            "session.opened", session, version: 1,
            """
            {\(holder)"stamp":0,"client":"\(client)","client_id":"web","scope":[],"resources":[],
            "amr":[],"opened_at":1,"offline":true,"expires_at":1900000000,"method":"\(method)",
            "device":"iPhone","source":"here"}
            """)
    }

    /// What is on record, oldest first.
    private func history(
        _ events: [Happening], _ selection: LoginSelection = LoginSelection()
    ) async throws -> [LoginView] {
        try world.append(events, in: "one")
        let build = try #require(try world.live("login_history"))
        var step = try Step.project("one", "login_history", build, page: 2, world.owner)
        while let now = step, now.position < now.head, now.halted == nil {
            step = try Step.project("one", "login_history", build, page: 2, world.owner)
        }
        return try await world.queries.ask(
            LoginView.history, (selection, after: nil, limit: 10), in: realm
        ).reversed()
    }

    @Test(arguments: [
        ("reuse", "urn:cocoar:otp", "refresh_token"),
        ("code_reuse", "authorization_code", "authorization_code"),
    ])
    func `a reused token is recorded beside the sign-in that it ended`(
        _ reason: String, _ openedBy: String, _ method: String
    ) async throws {
        let session = UUID(high: 11, low: 1)
        let ended = Happening(
            "session.ended", session, version: 2,
            #"{"area":"N40W075","asn":7,"country":"US","device":"Linux","reason":"\#(reason)","source":"there"}"#
        )
        let entries = try await history([
            opened(session, openedBy, of: account), ended,
            // What happens to the account then ends no row that is none of a session.
            Happening("account.disabled", account, version: 2),
        ])
        try #require(entries.count == 2)
        #expect(entries[0].session == session && !entries[0].isRefused)
        #expect(entries[0].endReason == reason && entries[0].device == "iPhone")
        let again = entries[1]
        #expect(again.position == 2 && again.isRefused && again.reason == reason)
        #expect(again.account == account && again.clientID == "web" && again.method == method)
        #expect(again.source == "there" && again.device == "Linux")
        #expect(again.country == "US" && again.asn == 7 && again.area == "N40W075")
        #expect(entries[0].country == nil)
        #expect(again.session == nil && again.endReason == nil && again.endedAt == nil)
        for selection in [
            LoginSelection(account: account, isRefused: true),
            .init(clientID: "web", isRefused: true), .init(isRefused: true),
        ] {
            #expect(try await history([], selection) == [again])
        }
    }

    @Test
    func `a reused token makes no attempt where the session ended otherwise or is a client's`()
        async throws
    {
        let (own, other) = (UUID(high: 11, low: 1), UUID(high: 11, low: 2))
        let entries = try await history([
            opened(own, "client_credentials", of: nil),
            Happening("session.ended", own, version: 2, #"{"reason":"reuse"}"#),
            opened(other, "urn:cocoar:otp", of: account),
            Happening("session.ended", other, version: 2, #"{"reason":"revoked"}"#),
        ])
        #expect(entries.map(\.position) == [3])
    }
}
