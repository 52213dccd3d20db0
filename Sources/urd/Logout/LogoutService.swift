import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import Identity
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

/// Tells clients, server to server, that a person logged out (OpenID Connect Back-Channel Logout), and
/// puts on record what became of it. One node does so at a time. A client may hear of the same twice
/// where a node dies between its yes and the record of it, and never not at all.
final class LogoutService: Sendable {
    private let store: Store
    private let letters: LogoutLetters
    private let web: WebClient
    private let rounds: DueWorkRounds
    private let lapsed: LapsedSessions
    private let nextLook = Mutex(ContinuousClock.now)

    /// The read model sees a record after this time at the latest, or it is tried again.
    private static let patience = Duration.seconds(60)

    init(_ store: Store, letters: LogoutLetters, web: WebClient) {
        self.store = store
        self.letters = letters
        self.web = web
        rounds = DueWorkRounds(.notices, of: "logout", store)
        lapsed = LapsedSessions(store.database)
    }

    static func configuration(_ options: ServeOptions) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.toClients(options)
        configuration.timeout = .seconds(5)
        return configuration
    }

    /// Sends logout notices until the task is cancelled.
    func run() async throws {
        try await rounds.run(first: { await self.endLapsed() }, { await self.deliver($0) })
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
            for entry in found where rounds.isOurs { try await end(entry) }
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

    /// - Returns: the delay before the next attempt.
    private func deliver(_ entry: DueWork.Entry) async -> Duration {
        do {
            var outcome = LogoutNoticeChange.Outcome.pointless
            if let letter = try await letters.letter(at: entry.position, in: entry.realm) {
                guard rounds.isOurs else { return .zero }
                outcome = await send(letter)
            }
            try await record(outcome, of: entry)
            return Self.patience
        } catch {
            store.lines.warning(
                "logout.not_told",
                ["notice": .string(entry.id.description), "why": .string("\(error)")])
            // An outage is soon over; what cannot be read is no better in a second.
            return (error as? LogFailure)?.isLasting == true ? Self.patience : .seconds(1)
        }
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

    /// Told until it is on record, so that a client that said yes is not told again by this process.
    private func record(
        _ outcome: LogoutNoticeChange.Outcome, of entry: DueWork.Entry
    ) async throws {
        var pause = Duration.milliseconds(100)
        while true {
            do {
                try await store.dispatch(
                    LogoutNoticeChange.record(
                        entry.id, outcome: outcome, now: store.clock.now()),
                    in: entry.realm, by: "logout")
                return
            } catch is LogoutNoticeChange.RecordRejection {
                return
            } catch {
                try Task.checkCancellation()
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(30))
            }
        }
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
