import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Telemetry
import Testing
import Values

@testable import API

extension SignInWorld {
    /// Another server of the same realm: it shares the log and the realm's keys, and nothing else.
    func otherNode() -> Router {
        let contexts = otherContexts()
        return Router(
            API(API.Services()).tables(of: contexts), log: .silent, metrics: Metrics(),
            lead: { await contexts.led($0) }, pages: contexts.pages)
    }

    private func otherContexts() -> RealmContexts {
        let (log, clock, mint, directory) = (log, clock, mint, directory)
        let dispatcher = Dispatcher(log: log)
        let realmClock = RealmContext.Clock(
            now: { clock.next() }, passed: { .seconds(clock.next().seconds) }, hesitate: { _ in })
        return RealmContexts(
            places: Places(directory, forwarding: Forwarding()), mint: { _ in mint },
            keys: TokenKeys(
                commands: dispatcher, clock: realmClock, revision: { _ in log.revision },
                generate: { try SigningKey.pooled($0) }),
            commands: dispatcher, queries: MemoryQueries(log: log), clock: realmClock,
            passphrases: .cheap, locate: { _ in knownPlace })
    }

    func post(
        _ path: String, form: [(name: String, value: String)], at node: Router
    ) async -> Answered {
        Answered(
            await node.respond(
                to: Request(
                    method: .post, path: path, query: nil,
                    headers: [
                        "Host": "id.acme.example",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: Array(Form.encode(form).utf8), source: "203.0.113.7",
                    id: "request-11")))
    }

    /// The last mail that anything asks for, as it would be sent; or that events of this name do.
    func lastLetter(
        _ settings: JSONObject = [:], for name: String? = nil
    ) async throws -> Letter {
        let mint = mint
        let composer = MailComposer(
            mint: { _ in mint }, events: log, revision: { _ in 0 },
            settings: { _, _ in Settings(overrides: settings) })
        for event in try await log.events(from: 1, limit: .max, in: realm).reversed()
        where name.map({ $0 == event.name }) ?? (event.open["mail"] != nil) {
            if let letter = try await composer.letter(for: event) { return letter }
        }
        throw NoLetter()
    }

    private struct NoLetter: Error {}
}

extension Letter {
    /// The address that it leads to.
    var link: String? {
        text.split(whereSeparator: \.isWhitespace).map(String.init).first { $0.contains("://") }
    }
}
