import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Follows the log of one realm from its beginning until its task is cancelled.
final class FindingRun: Sendable {
    private let service: FindingService
    private let realm: RealmID
    private let reached = Atomic<Int64>(0)

    private static let span: Int64 = 2_000
    /// Events that come close together are read as one batch.
    private static let pause = Duration.milliseconds(20)
    private static let longestRest: Int64 = 60_000_000
    private static let shortestRest: Int64 = 500_000
    /// What is found in what is older than this is history: a log that was there before its rules.
    private static let oldest: Int64 = 7 * 86_400

    init(_ service: FindingService, _ realm: RealmID) {
        self.service = service
        self.realm = realm
    }

    /// Position up to which the run has read the log.
    var position: Int64 { reached.load(ordering: .relaxed) }

    private var store: Store { service.store }

    /// An outage of the database is waited out.
    func run() async {
        while !Task.isCancelled {
            do {
                try await follow()
            } catch LogFailure.fenced {
                // What was found is of a tail that is lost. This node may take a moment to know the new epoch.
                try? await Task.sleep(for: Self.pause)
            } catch {
                guard !Task.isCancelled else { return }
                store.lines.warning(
                    "findings.wait",
                    ["realm": .string(realm.name), "why": .string("\(error)")])
                try? await Task.sleep(for: Store.rest(after: error))
            }
        }
    }

    /// Returns where the log is in another epoch: then it is read anew.
    private func follow() async throws {
        var engine = FindingEngine()
        var position: Int64 = 0
        var epoch: Int?
        while !Task.isCancelled {
            let (page, last) = try await store.log.selection(
                after: position, span: Self.span, types: FindingEngine.eventTypes,
                ofAdministrators: FindingEngine.administrationTypes, in: realm)
            guard epoch == nil || page.head.epoch == epoch, page.head.position >= position else {
                return
            }
            epoch = page.head.epoch
            for event in page.events { engine.take(event) }
            position = last
            reached.store(position, ordering: .relaxed)
            guard position >= page.head.position else { continue }
            try await act(&engine, in: page.head.epoch)
            await rest(engine, past: position)
            try await Task.sleep(for: Self.pause)
        }
    }

    private func rest(_ engine: FindingEngine, past position: Int64) async {
        let now = store.now(in: realm)
        let due = engine.nextDue.map { $0.microseconds(since: now) + 1_000 } ?? Self.longestRest
        // What could not be put on record is tried again soon.
        let longest =
            engine.outstanding.isEmpty && engine.risen.isEmpty
            ? Self.longestRest : Self.shortestRest
        await store.log.hub.wait(
            past: position, in: realm,
            atMost: .microseconds(max(Self.shortestRest, min(due, longest))))
    }

    // MARK: - What is put on record

    private func act(_ engine: inout FindingEngine, in epoch: Int) async throws {
        let now = store.now(in: realm)
        let history = now.adding(seconds: -Self.oldest)
        for trigger in engine.outstanding + engine.due(at: now) {
            guard service.isOurs else { return }
            if trigger.to >= history {
                try await record(
                    RaiseFinding(
                        trigger, others: try await others(about: trigger.about), epoch: epoch))
                service.raised.add(1)
                store.lines.notice(
                    "finding.raised",
                    [
                        "realm": .string(realm.name), "rule": .string(trigger.rule.rawValue),
                        "finding": .string(trigger.id.description),
                    ])
            }
            engine.settle(trigger)
        }
        for change in engine.risen where engine.isOpen(change.id) {
            guard service.isOurs else { return }
            try await record(
                EscalateFinding(
                    change, others: try await others(than: change.id), epoch: epoch))
            engine.settle(change)
        }
        for id in engine.quiet(at: now) {
            guard service.isOurs else { return }
            do {
                try await record(
                    CloseFinding(id: id, cause: .quiet, others: try await others(than: id)))
                service.closed.add(1)
            } catch is CloseFinding.Rejection {
                // Another node or an administrator closed it just now.
                continue
            }
        }
    }

    private func record<C: Command>(_ command: C) async throws {
        try await store.dispatch(command, in: realm, by: FindingRules.actor)
    }

    /// The open findings about an account, which are its risk together.
    private func others(about subject: FindingSubject) async throws -> [UUID] {
        switch subject {
        case .account(let account): return try await open(of: account)
        case .session(let session):
            let first = try await store.log.stream(session, after: 0, in: realm).first
            guard let account = first?.open["account"]?.string.flatMap({ UUID($0) }) else {
                return []
            }
            return try await open(of: account)
        case .source, .actor, .realm: return []
        }
    }

    private func others(than id: UUID) async throws -> [UUID] {
        guard let account = try await service.queries.ask(FindingView.byID, id, in: realm)?.account
        else {
            return []
        }
        return try await open(of: account)
    }

    private func open(of account: UUID) async throws -> [UUID] {
        try await service.queries.ask(
            FindingView.page,
            (
                FindingSelection(isOpen: true, account: account), after: nil,
                limit: CloseFinding.mostOthers
            ), in: realm
        ).map(\.id)
    }
}
