import EventSourcing
import EventStore

/// What only shows with the master key in hand: whether it is the database's, and whether the realms'
/// logs still go on from what was signed.
struct RealmsReport: Sendable {
    var isOtherMasterKey = false
    /// Realms whose keys yet another master key wraps.
    var leftBehind: [String] = []
    /// Realms with a log and without a key.
    var keyless: [String] = []
    var unsound: [Unsound] = []
    /// Realms with sealed events that cannot be read.
    var unreadable: [Unsound] = []

    struct Unsound: Sendable {
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
        guard keyless.isEmpty else {
            return .wrong(
                check, "those of " + keyless.joined(separator: ", ") + " are gone from the database",
                mend: "Nothing is written there. Put the rows of these realms in urd.realm_key back "
                    + "from a backup; without them nothing that is sealed there can be read again.")
        }
        guard leftBehind.isEmpty else {
            return .wrong(
                check, "another master key wraps those of " + leftBehind.joined(separator: ", "),
                mend: "Wrap them under this one: "
                    + "urd keys rotate-master --old <file of their master key>")
        }
        return .fine(check, "the master key opens them")
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
        var report = RealmsReport(leftBehind: left.map(\.name), keyless: keyless.map(\.name))
        let directory = settings[Settings.checkpointDirectory]
        let file = directory.map { CheckpointFile(directory: $0) }
        let verifier = LogVerifier(store.database, keyring: store.keyring, directory: directory)
        let there = try await store.log.realms()
        for realm in there where !left.contains(realm) && !keyless.contains(realm) {
            let head = try await store.log.head(of: realm).position
            let from = min(head, file?.size(of: realm) ?? head)
            if let finding = try await verifier.verify(realm, from: max(1, from)).finding {
                report.unsound.append(Unsound(realm: realm.name, why: finding.description))
            }
            let unreadable = try await verifier.unreadable(in: realm, amongLast: recentEvents)
            if let found = unreadable.description {
                report.unreadable.append(Unsound(realm: realm.name, why: found))
            }
        }
        // Its keys are not asked for: that would make some.
        for realm in Set((try? file?.realms()) ?? []).subtracting(there).sorted() {
            report.unsound.append(
                Unsound(realm: realm.name, why: "its log is gone from the database."))
        }
        return report
    }
}

extension CheckpointFile {
    /// Of the log when its last checkpoint was signed.
    fileprivate func size(of realm: RealmID) -> Int64? {
        guard let note = try? read(realm) else { return nil }
        return SignedNote(note).flatMap { Checkpoint(text: $0.text) }?.size
    }
}
