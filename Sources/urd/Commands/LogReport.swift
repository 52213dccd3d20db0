import EventSourcing
import EventStore
import JSON
import Laws

/// What a verification of the logs of some realms found.
struct LogReport: Sendable {
    private(set) var results: [Verification] = []
    private var unreadable: [Unreadable] = []

    var isFine: Bool {
        unreadable.isEmpty && laws.isLawful
            && results.allSatisfy { $0.isIntact && $0.unreadable.count == 0 }
    }

    var laws: LawReport { LawReport(results) }

    /// A realm that nothing can be said about.
    private struct Unreadable: Sendable {
        let realm: RealmID
        let why: LogFailure

        var json: JSON {
            [
                "realm": .string(realm.name), "intact": false, "unreadable": .string("\(why)"),
            ]
        }
    }

    /// - Parameters:
    ///   - checkpoints: the folder of checkpoints that vouch for the logs.
    ///   - from: what stands before is not read again, as far as a checkpoint vouches for it.
    ///   - holdsLaws: whether to hold the logs against the laws as well.
    init(
        of realms: [RealmID], in store: Store, checkpoints: String?, from: Int64 = 1,
        holdsLaws: Bool = false, console: Console
    ) async throws {
        let verifier = LogVerifier(
            store.database, keyring: store.keyring, directory: checkpoints)
        for realm in realms {
            let progress = Progress("verify \(realm)", unit: "events", on: console)
            let result: Verification
            do {
                result = try await verifier.verify(realm, from: from, holdsLaws: holdsLaws) {
                    progress.advance(to: $0.done, of: $0.total)
                }
            } catch let failure as LogFailure where failure.isLasting {
                progress.finish()
                unreadable.append(Unreadable(realm: realm, why: failure))
                continue
            }
            progress.finish()
            guard from <= max(1, result.last) else {
                throw CommandFailure("the realm '\(realm)' has no position \(from)")
            }
            results.append(result)
        }
    }

    /// A realm that is gone as a whole has its last checkpoint outside the database still.
    static func realms(_ store: Store, checkpoints: String?) async throws -> Set<RealmID> {
        let sealed = try checkpoints.map { try CheckpointFile(directory: $0).realms() } ?? []
        return try await Set(store.log.realms()).union(sealed)
    }

    var table: Table {
        var table = Table(
            "realm", "from", "to", "sealed", "checkpoints", "result",
            numbers: ["from", "to", "sealed", "checkpoints"])
        for result in results {
            table.add(
                result.realm.name, String(result.first), String(result.last),
                String(result.sealed), String(result.checkpoints),
                [result.finding?.description ?? "intact", result.unreadable.description]
                    .compactMap(\.self).joined(separator: "; "))
        }
        for one in unreadable {
            table.add(one.realm.name, "", "", "", "", "cannot be verified: \(one.why)")
        }
        return table
    }

    var json: JSON { .array(results.map(Self.json) + unreadable.map(\.json)) }

    private static func json(_ result: Verification) -> JSON {
        var members: JSONObject = [
            "realm": .string(result.realm.name), "from": .integer(result.first),
            "to": .integer(result.last), "sealed": .integer(result.sealed),
            "checkpoints": .integer(Int64(result.checkpoints)), "intact": .bool(result.isIntact),
        ]
        if let finding = result.finding {
            members["finding"] = [
                "problem": .string(finding.problem.rawValue),
                "position": .integer(finding.position),
                "not_before": .integer(finding.notBefore),
            ]
        }
        if let laws = result.laws { members["laws"] = laws.json }
        if let first = result.unreadable.first {
            members["unreadable_events"] = [
                "without_key": .integer(result.unreadable.withoutKey),
                "not_opened": .integer(result.unreadable.notOpened), "first": .integer(first),
            ]
        }
        return .object(members)
    }
}
