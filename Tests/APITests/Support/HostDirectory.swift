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

    func realm(ofHost host: String) async throws(LogFailure) -> RealmID? {
        try await ask { $0.hosts[host] }
    }

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView? {
        try await ask { $0.realms[realm] }
    }

    func app(slug: String, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await ask { $0.apps[realm]?.first { $0.slug == slug } }
    }

    func webApp(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> WebAppView? {
        try await ask { $0.webApps[realm]?.first { $0.id == id } }
    }

    func webApp(
        slug: String, kind: WebAppKind, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try await ask {
            $0.webApps[realm]?.first { $0.card.slug == slug && $0.card.kind == kind }
        }
    }

    func webApp(
        originHost host: String, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try await ask { $0.webApps[realm]?.first { $0.card.originHost == host } }
    }

    func revision(of realm: RealmID) -> Int64 {
        besides() + state.withLock { $0.revisions[realm] ?? 0 }
    }
}
