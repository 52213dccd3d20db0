import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Tells clients, server to server, that a person logged out (OpenID Connect Back-Channel Logout), and
/// puts on record what became of it.
final class LogoutService: Sendable {
    private let store: Store
    private let letters: LogoutLetters
    private let web: WebClient
    private let outbox: Outbox
    private let lapsed: LapsedSessions
    private let nextLook = Mutex(ContinuousClock.now)

    init(_ store: Store, letters: LogoutLetters, web: WebClient) {
        self.store = store
        self.letters = letters
        self.web = web
        outbox = Outbox(.notices, of: "logout", line: "logout.not_told", field: "notice", store)
        lapsed = LapsedSessions(store.database)
    }

    static func configuration(_ options: ServeOptions) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.toClients(options)
        configuration.timeout = .seconds(5)
        return configuration
    }

    /// Sends logout notices until the task is cancelled.
    func run() async throws {
        try await outbox.run(first: { await self.endLapsed() }, { try await self.deliver($0) })
    }

    /// Sessions that ended with their account or their opener, or that the person logged out of everywhere, have
    /// no word of it in their own stream: it is put there, so that their clients are told like all others. Nothing
    /// has to be kept in mind between two looks, and the more there is to look at the rarer they are.
    private func endLapsed() async {
        let began = ContinuousClock.now
        guard began >= nextLook.withLock({ $0 }) else { return }
        var found: [LapsedSessions.Entry] = []
        do {
            found = try await lapsed.page(at: store.clock.now(), limit: 500)
            for entry in found where outbox.isOurs { try await end(entry) }
        } catch {
            store.lines.warning("logout.not_ended", ["why": .string("\(error)")])
        }
        let took = ContinuousClock.now - began
        nextLook.withLock {
            $0 = .now + max(.milliseconds(500), found.count == 500 ? took : took * 20)
        }
    }

    private func end(_ entry: LapsedSessions.Entry) async throws {
        let order = NoticeOrder(id: store.newID())
        do {
            try await store.dispatch(
                EndLapsedSession(session: entry.session, notice: order, now: store.clock.now()),
                in: entry.realm, by: "logout")
        } catch is EndLapsedSession.Rejection {
            return
        }
    }

    private func deliver(_ entry: DueWork.Entry) async throws -> Bool {
        var outcome = LogoutNoticeChange.Outcome.pointless
        if let letter = try await letters.letter(at: entry.position, in: entry.realm) {
            guard outbox.isOurs else { return false }
            outcome = await send(letter)
        }
        try await store.record(
            LogoutNoticeChange.record(entry.id, outcome: outcome, now: store.clock.now()),
            in: entry.realm, by: "logout")
        return true
    }

    private func send(_ letter: LogoutLetter) async -> LogoutNoticeChange.Outcome {
        let request = OutgoingRequest(
            method: .post, url: letter.address,
            headers: [
                "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
            ], body: Array(Form.encode([("logout_token", letter.token)]).utf8))
        guard let response = try? await web.send(request) else { return .refused(code: 0) }
        // The specification says 200; some answer 204.
        let code = response.status.code
        return code == 200 || code == 204 ? .taken : .refused(code: code)
    }
}

extension LogoutLetters {
    init(_ store: Store, _ queries: ReadModelQueries) {
        let clock = store.realmClock
        self.init(
            mint: store.mint, keys: store.tokenKeys(queries, clock), events: store.log,
            queries: queries, clock: clock)
    }
}
