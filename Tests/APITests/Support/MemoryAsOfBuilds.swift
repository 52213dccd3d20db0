import EventSourcing
import HTTP
import JSON
import ReadModels
import Synchronization
import Values

@testable import API

/// Realms as of a moment that nobody builds: each has one thing of each kind.
final class MemoryAsOfBuilds: AsOfBuilds {
    private let builds = Mutex<[UUID: AsOfBuild]>([:])

    func change(_ id: UUID, _ change: (inout AsOfBuild) -> Void) {
        builds.withLock { builds in
            guard var build = builds[id] else { return }
            change(&build)
            builds[id] = build
        }
    }

    func cancelUnfinished() {
        builds.withLock { builds in
            for (id, build) in builds where [.waiting, .running].contains(build.state) {
                builds[id]?.state = .cancelled
            }
        }
    }

    func create(_ build: AsOfBuild) -> Bool {
        builds.withLock { builds in
            let wanted = builds.values.filter {
                $0.realm == build.realm && [.waiting, .running].contains($0.state)
            }
            guard wanted.count < AsOfBuildStore.mostAtOnce else { return false }
            builds[build.id] = build
            return true
        }
    }

    func build(_ id: UUID, in realm: RealmID) -> AsOfBuild? {
        builds.withLock { $0[id] }.flatMap { $0.realm == realm ? $0 : nil }
    }

    func builds(in realm: RealmID) -> [AsOfBuild] {
        builds.withLock { builds in
            Array(
                builds.values.filter { $0.realm == realm && $0.state != .cancelled }
                    .prefix(AsOfBuildStore.mostAtOnce))
        }
    }

    func cancel(_ id: UUID, in realm: RealmID) -> Bool {
        guard build(id, in: realm) != nil else { return false }
        change(id) { $0.state = .cancelled }
        return true
    }

    func items(
        _ list: AsOfList, of build: AsOfBuild, account: UUID?, after: AsOfPlace?, limit: Int
    ) -> [AsOfBuildStore.Item]? {
        let id = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0001)
        guard build.state == .ready, after == nil else { return [] }
        return [AsOfBuildStore.Item(place: AsOfPlace(id), members: list.example.object ?? [:])]
    }
}

extension World {
    /// A realm as of a moment that is ready.
    func asOfBuild(key: BearerKey? = nil) async throws -> String {
        let asked = try await send(
            .post, "/api/admin/realms/acme/as-of/2099-01-01T00:00:00Z", key: key)
        let id = asked.json["id"]?.string
        // A key that may not ask for one is refused to drop one, too.
        guard let id, let build = UUID(id) else { return names["build_id"] ?? "" }
        asOfBuilds.change(build) {
            $0.state = .ready
            $0.reached = $0.position
            $0.finishedAt = $0.askedAt
            $0.counts = [AsOfBuild.Count(projection: "accounts", rows: 1)]
        }
        return id
    }
}
