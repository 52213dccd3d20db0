import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Synchronization
import Values

@testable import API

/// Hosts, realms and apps in memory, with a revision for each realm that moves with every change.
final class HostDirectory: HostQueries {
    struct State {
        var hosts: [String: RealmID] = [:]
        var realms: [RealmID: RealmView] = [:]
        var apps: [RealmID: [AppView]] = [:]
        var webApps: [RealmID: [WebAppView]] = [:]
        var revisions: [RealmID: Int64] = [:]
        var asked = 0
        var failure: LogFailure?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isHeld = false
    }

    let state = Mutex(State())
    /// Moves as well with what else is changed in a realm.
    private let besides: @Sendable () -> Int64

    init(besides: @escaping @Sendable () -> Int64 = { 0 }) {
        self.besides = besides
    }

    var asked: Int { state.withLock { $0.asked } }

    func change(_ realm: RealmID, _ change: (inout State) -> Void) {
        state.withLock {
            change(&$0)
            $0.revisions[realm, default: 0] += 1
        }
    }

    func add(
        _ realm: RealmID, hosts: [String], _ settings: JSONObject = [:],
        isDisabled: Bool = false
    ) {
        change(.system) { for host in hosts { $0.hosts[host] = realm } }
        change(realm) {
            $0.realms[realm] = RealmView(
                realm: realm, isDisabled: isDisabled,
                settings: settings.merging(["display_name": "Acme"]) { own, _ in own },
                createdAt: Timestamp(microseconds: 1))
        }
    }

    @discardableResult
    func add(app slug: String, to realm: RealmID, _ settings: JSONObject = [:]) -> UUID {
        let id = UUID.random()
        change(realm) {
            $0.apps[realm, default: []].append(
                AppView(
                    id: id, slug: slug, name: slug, settings: settings,
                    createdAt: Timestamp(microseconds: 1)))
        }
        return id
    }

    /// From now on every question waits until it is released.
    func hold() { state.withLock { $0.isHeld = true } }

    var waiting: Int { state.withLock { $0.waiting.count } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    private func ask<Value: Sendable>(
        _ read: (State) -> Value
    ) async throws(LogFailure) -> Value {
        // What is read is what was there when it was asked.
        let (value, failure) = state.withLock { state in
            state.asked += 1
            return (read(state), state.failure)
        }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        if let failure { throw failure }
        return value
    }

    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID
    ) async throws(LogFailure) -> Answer {
        try await Self.answers.ask(question, input, in: realm, self)
    }

    private static let answers: Answers<HostDirectory> = {
        var answers = Answers<HostDirectory>()
        answers.on(HostView.byName) { me, _, host in
            try await me.ask { state in
                state.hosts[host].map {
                    HostView(host: host, realm: $0, assignedAt: Timestamp(microseconds: 1))
                }
            }
        }
        answers.on(RealmView.byName) { me, realm, _ in try await me.ask { $0.realms[realm] } }
        answers.on(AppView.bySlug) { me, realm, slug in
            try await me.ask { $0.apps[realm]?.first { $0.slug == slug } }
        }
        answers.on(WebAppView.byID) { me, realm, id in
            try await me.ask { $0.webApps[realm]?.first { $0.id == id } }
        }
        answers.on(WebAppView.bySlug) { me, realm, asked in
            try await me.ask {
                $0.webApps[realm]?.first {
                    $0.card.slug == asked.slug && $0.card.kind == asked.kind
                }
            }
        }
        answers.on(WebAppView.byOrigin) { me, realm, host in
            try await me.ask { $0.webApps[realm]?.first { $0.card.originHost == host } }
        }
        return answers
    }()

    func revision(of realm: RealmID) -> Int64 {
        besides() + state.withLock { $0.revisions[realm] ?? 0 }
    }
}
