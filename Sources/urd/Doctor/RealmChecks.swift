import EventSourcing
import EventStore
import Postgres

/// What only shows with the master key in hand: whether it is the database's, and whether the realms'
/// logs still go on from what was signed.
struct RealmsReport: Sendable {
    var isOtherMasterKey = false
    /// Realms whose keys yet another master key wraps.
    var leftBehind: [String] = []
    /// Realms with a log and without a key.
    var keyless: [String] = []
    /// Keys whose rows cannot be read.
    var lostKeys: [Keyring.UnreadableKey] = []
    var unsound: [UnreadableRealm] = []
    /// Realms with sealed events that cannot be read.
    var unreadable: [UnreadableRealm] = []

    struct UnreadableRealm: Sendable {
        let realm: String
        let why: String
    }

    var diagnoses: [Diagnosis] { [masterKey] + (isOtherMasterKey ? [] : [logs, sealedEvents]) }

    private var masterKey: Diagnosis {
        let check = "keys"
        if isOtherMasterKey {
            return .wrong(
                check, "another master key wraps those in the database",
                mend: "Let master-key-file name the one that made them; after "
                    + "`urd keys rotate-master`, the new one.")
        }
        let faults = [gone, unreadableKeys, ofOthers].compactMap(\.self)
        if !faults.isEmpty {
            return .wrong(
                check, faults.map(\.what).joined(separator: "; "),
                mend: faults.map(\.mend).joined(separator: " "))
        }
        return .fine(check, "the master key opens them")
    }

    private typealias Fault = (what: String, mend: String)

    private var gone: Fault? {
        guard !keyless.isEmpty else { return nil }
        return (
            "those of " + keyless.joined(separator: ", ") + " are gone from the database",
            "Nothing is written there. Put the rows of these realms in urd.realm_key back "
                + "from a backup; without them nothing that is sealed there can be read again."
        )
    }

    private var unreadableKeys: Fault? {
        guard !lostKeys.isEmpty else { return nil }
        let realms = Set(lostKeys.map(\.realm)).sorted().map { realm in
            let rows = lostKeys.filter { $0.realm == realm }
            return
                "\(realm) (\(rows.map { "\($0.purpose) \($0.version)" }.joined(separator: ", ")))"
        }
        return (
            "rows that cannot be read: " + realms.joined(separator: ", "),
            "Put these rows (purpose and version) of urd.realm_key back from a backup. Until then what "
                + "they seal there cannot be read, and without the newest of each purpose nothing is "
                + "written there."
        )
    }

    private var ofOthers: Fault? {
        guard !leftBehind.isEmpty else { return nil }
        return (
            "another master key wraps those of " + leftBehind.joined(separator: ", "),
            "Wrap them under this one: urd keys rotate-master --old <file of their master key>"
        )
    }

    private var logs: Diagnosis {
        let check = "sealed logs"
        guard let first = unsound.first else {
            return .fine(check, "they go on from what was signed")
        }
        let found = unsound.map { "\($0.realm): \($0.why)" }.joined(separator: " ")
        return .wrong(
            check, found,
            mend: "Nothing is signed there until it is mended. `urd verify --realm \(first.realm)` "
                + "looks at all of it; docs/tamper-evidence.md says what to do after a restore.")
    }
}

extension RealmsReport {
    private var sealedEvents: Diagnosis {
        let check = "personal data"
        guard let first = unreadable.first else {
            return .fine(check, "its keys are there and open it")
        }
        return .wrong(
            check, unreadable.map { "\($0.realm): \($0.why)" }.joined(separator: " "),
            mend:
                "Those keys were lost, with a crash or a failover: a backup that has them gives them "
                + "back. `urd verify --realm \(first.realm)` counts in all of the log.")
    }

    /// `urd verify` looks at all of them.
    private static let recentEvents: Int64 = 1_000_000

    static func read(_ settings: Settings) async throws -> RealmsReport {
        let store = try Store(settings)
        defer { store.close() }
        guard try await store.keyring.isOfThisDatabase() else {
            return RealmsReport(isOtherMasterKey: true)
        }
        let left = try await store.keyring.realmsOfOtherMasters()
        let keyless = try await store.keyring.realmsWithoutKeys()
        var report = RealmsReport(
            leftBehind: left.map(\.name), keyless: keyless.map(\.name),
            lostKeys: try await store.keyring.unreadableKeys())
        let directory = settings[Settings.checkpointDirectory]
        let file = directory.map { CheckpointFile(directory: $0) }
        let verifier = LogVerifier(store.database, keyring: store.keyring, directory: directory)
        let there = try await store.log.realms()
        for realm in there where !left.contains(realm) && !keyless.contains(realm) {
            do {
                try await report.look(at: realm, store, verifier, file)
            } catch {
                // What is wrong with one realm keeps none of the others from being looked at.
                guard Self.isLasting(error) else { throw error }
                guard !report.lostKeys.contains(where: { $0.realm == realm.name }) else { continue }
                report.unsound.append(
                    UnreadableRealm(realm: realm.name, why: "it cannot be looked at: \(error)."))
            }
        }
        // Its keys are not asked for: that would make some.
        for realm in Set((try? file?.realms()) ?? []).subtracting(there).sorted() {
            report.unsound.append(
                UnreadableRealm(realm: realm.name, why: "its log is gone from the database."))
        }
        return report
    }

    private static func isLasting(_ error: any Error) -> Bool {
        if let failure = error as? Postgres.Failure { return !failure.isTransient }
        return (error as? LogFailure)?.isLasting ?? false
    }

    private mutating func look(
        at realm: RealmID, _ store: Store, _ verifier: LogVerifier, _ file: CheckpointFile?
    ) async throws {
        let head = try await store.log.head(of: realm).position
        let from = min(head, file?.size(of: realm) ?? head)
        if let finding = try await verifier.verify(realm, from: max(1, from)).finding {
            unsound.append(UnreadableRealm(realm: realm.name, why: finding.description))
        }
        let sealed = try await verifier.unreadable(in: realm, amongLast: Self.recentEvents)
        if let found = sealed.description {
            unreadable.append(UnreadableRealm(realm: realm.name, why: found))
        }
    }
}

extension CheckpointFile {
    /// Of the log when its last checkpoint was signed.
    fileprivate func size(of realm: RealmID) -> Int64? {
        guard let note = try? read(realm) else { return nil }
        return SignedNote(note).flatMap { Checkpoint(text: $0.text) }?.size
    }
}
