public import EventSourcing
import JSON
public import Postgres
import Synchronization
public import Telemetry

/// Seals the log after the fact: takes committed events into each realm's tree, stores its tiles
/// and signs a checkpoint at least every second while the log grows.
///
/// It never signs what is not an extension of what was signed before, by any node, and by the
/// database's word as well as by the file's. Where that fails, the realm halts: health, a metric
/// and a log line say so, nothing is signed, and the whole check is made again every minute.
public final class Sealer: Sendable {
    public struct Settings: Sendable {
        /// What stands before the realm in a checkpoint's origin line: best the log's own URL
        /// without its scheme.
        public var origin: String
        /// Where the copies outside the database are kept. Nil: nowhere, and a database that was
        /// set back as a whole is not noticed by this node after a restart.
        public var directory: String?
        public var interval: Duration
        /// How often heads are compared with seals while no log moves: what changed them then was no append.
        public var longestRest: Duration
        /// How often the stored tree is read again, and a halted realm looked at again.
        public var recheck: Duration
        public var limit: Int64

        public init(
            origin: String = "urd", directory: String?, interval: Duration = .milliseconds(900),
            longestRest: Duration = .seconds(2), recheck: Duration = .seconds(60),
            limit: Int64 = 65_536
        ) {
            self.origin = origin
            self.directory = directory
            self.interval = interval
            self.longestRest = longestRest
            self.recheck = recheck
            self.limit = max(1, limit)
        }

        func name(of realm: RealmID) -> String { "\(origin)/\(realm.name)" }
    }

    private struct Realm: Sendable {
        var tree: SealedTree?
        var state: SealingState
        var checked: ContinuousClock.Instant
        /// How many losses had been accepted then.
        var accepted: Int32 = 0
    }

    private let database: Database
    private let keyring: Keyring
    private let settings: Settings
    private let file: CheckpointFile?
    private let hub: CommitHub
    private let metrics: SealerMetrics
    private let log: Log
    private let realms = Mutex<[RealmID: Realm]>([:])

    public init(
        _ database: Database, keyring: Keyring, settings: Settings, hub: CommitHub = CommitHub(),
        metrics: Metrics = Metrics(), log: Log = .silent
    ) {
        self.database = database
        self.keyring = keyring
        self.settings = settings
        self.hub = hub
        self.metrics = SealerMetrics(metrics)
        self.log = log
        file = settings.directory.map { CheckpointFile(directory: $0) }
    }

    /// Seals until it is cancelled, and once more then, so that a stopped log is a sealed log.
    public func run() async throws {
        var isReachable = true
        while !Task.isCancelled {
            var isBehind = false
            do {
                isBehind = try await sealOnce()
                isReachable = true
            } catch {
                if isReachable { log.warning("sealer.waiting") }
                isReachable = false
            }
            if !isBehind {
                try? await hub.rest(settings.interval, longest: settings.longestRest)
            }
        }
        _ = try? await sealOnce()
    }

    /// How far each realm is, as of the last look.
    public var states: [RealmID: SealingState] {
        realms.withLock { $0.mapValues(\.state) }
    }

    /// One round over every realm with something new.
    /// - Returns: whether there is more to seal at once.
    @discardableResult
    public func sealOnce() async throws -> Bool {
        let (heads, copied) = try await database.run { [file] connection throws(Postgres.Failure) in
            (try TamperTable.heads(on: connection), (try? file?.realms()) ?? [])
        }
        var isBehind = false
        for head in heads where isDue(head) {
            do {
                if try await seal(head.realm, head.accepted) { isBehind = true }
            } catch {
                // One realm's trouble must not leave the others unsealed.
                guard database.isReachable else { throw error }
                noteFailure(head, error)
            }
        }
        // A realm that vanished as a whole is known by its file, or by what was signed before.
        let missing = Set(realms.withLock { $0.keys }).union(copied).subtracting(heads.map(\.realm))
        for realm in missing.sorted() { noteMissing(realm) }
        return isBehind
    }

    private func noteFailure(_ head: TamperTable.Head, _ error: any Error) {
        log.error(
            "sealer.failed",
            ["realm": .string(head.realm.name), "reason": .string("\(error)")])
        let known = realms.withLock { $0[head.realm] }
        let state = SealingState(
            sealed: known?.tree?.size ?? 0, head: head.position, halt: known?.state.halt)
        metrics.show(state, of: head.realm)
        realms.withLock {
            $0[head.realm] = Realm(
                tree: known?.tree, state: state, checked: known?.checked ?? .now)
        }
    }

    private func noteMissing(_ realm: RealmID) {
        let known = realms.withLock { $0[realm] }
        let copy = file.flatMap { try? $0.read(realm) }
        if file != nil, copy == nil, case .logIsShorter(_, 0) = known?.state.halt {
            // It was said, and the evidence was moved away: the realm was given up.
            realms.withLock { $0[realm] = nil }
            metrics.show(SealingState(sealed: 0, head: 0, halt: nil), of: realm)
            return log.notice("sealer.realm.forgotten", ["realm": .string(realm.name)])
        }
        // Its signature does not matter here: a copy of any size shows that there was a log.
        let copied = copy.flatMap { SignedNote($0) }.flatMap { Checkpoint(text: $0.text) }?.size
        let size = known?.tree?.size ?? copied ?? 0
        note(.halted(.logIsShorter(size: size, head: 0)), realm, known, false)
    }

    private func isDue(_ head: TamperTable.Head) -> Bool {
        realms.withLock { realms in
            guard let known = realms[head.realm] else { return true }
            if known.state.halt != nil {
                return needsCheck(known) || head.accepted != known.accepted
            }
            let size = known.tree?.size ?? 0
            return head.position != size || head.sealed != size
        }
    }

    private func needsCheck(_ known: Realm) -> Bool {
        known.checked.duration(to: .now) >= settings.recheck
    }

    private func seal(_ realm: RealmID, _ accepted: Int32) async throws -> Bool {
        let known = realms.withLock { $0[realm] }
        let recheck = known.map(needsCheck) ?? true
        // What was signed is remembered through a halt: it still binds.
        let tree = known?.tree
        var outcome: SealingRound.Outcome
        do {
            outcome = try await look(at: realm, after: tree, recheck: recheck)
            if case .halted(.forgedEvent) = outcome {
                // The keys may have been rotated by another node meanwhile.
                keyring.forget(realm)
                outcome = try await look(at: realm, after: tree, recheck: recheck)
            }
        } catch LogFailure.otherMasterKey {
            outcome = .halted(.otherMasterKey)
        }
        return note(outcome, realm, known, recheck, accepted)
    }

    private func look(
        at realm: RealmID, after tree: SealedTree?, recheck: Bool
    ) async throws -> SealingRound.Outcome {
        let keys: RealmKeys
        do throws(LogFailure) {
            keys = try await keyring.keys(of: realm)
        } catch {
            guard error == .damaged else { throw error }
            return .halted(.unreadableKeys)
        }
        guard let signer = NoteSigner(name: settings.name(of: realm), key: keys.signing) else {
            preconditionFailure("The origin of checkpoints was checked when it was configured.")
        }
        let limit = settings.limit
        return try await database.run { [self] connection throws(Postgres.Failure) in
            let copy: Copy
            switch try read(realm, keys, recheck ? nil : tree?.checkpoint, connection) {
            case .success(let found): copy = found
            case .failure(let halt): return .halted(halt)
            }
            let outcome = try connection.transaction { connection throws(Postgres.Failure) in
                try SealingRound(
                    realm: realm, keys: keys, signer: signer, connection: connection,
                    limit: limit, file: copy.signed
                ).run(after: tree, recheck: recheck)
            }
            if case .sealed(let tree, _, let isGivenUp) = outcome {
                if isGivenUp || copy.isGivenUp { setAside(realm) }
                if let checkpoint = tree.checkpoint, checkpoint.note != copy.signed?.note {
                    keep(checkpoint, realm)
                }
            }
            return outcome
        }
    }

    /// What was found outside the database.
    private struct Copy: Sendable {
        var signed: SignedCheckpoint?
        var isGivenUp = false
    }

    private func read(
        _ realm: RealmID, _ keys: RealmKeys, _ known: SignedCheckpoint?, _ connection: Connection
    ) throws(Postgres.Failure) -> Result<Copy, Halt> {
        let note: [UInt8]
        do throws(CheckpointFile.Failure) {
            guard let read = try file?.read(realm) else { return .success(Copy()) }
            note = read
        } catch {
            return .failure(.unreadableFile(error))
        }
        if let signed = keys.checkpoint(note, known: known) {
            return .success(Copy(signed: signed))
        }
        let accepted = try AcceptedLosses(realm, keys: keys, on: connection)
        return accepted.coverUnsigned(note)
            ? .success(Copy(isGivenUp: true)) : .failure(.badFile)
    }

    /// What was given up is the evidence of what there was: it is kept beside the new copy.
    private func setAside(_ realm: RealmID) {
        do {
            try file?.setAside(realm)
            log.notice("sealer.file.set_aside", ["realm": .string(realm.name)])
        } catch {
            noteFileError(error, realm)
        }
    }

    /// A copy that can't be written is loud, but no reason to leave the log unsealed.
    private func keep(_ checkpoint: SignedCheckpoint, _ realm: RealmID) {
        do {
            try file?.write(checkpoint.note, of: realm)
        } catch {
            noteFileError(error, realm)
        }
    }

    private func noteFileError(_ failure: CheckpointFile.Failure, _ realm: RealmID) {
        metrics.fileErrors.add()
        log.error(
            "sealer.file.failed",
            ["realm": .string(realm.name), "reason": .string(failure.description)])
    }

    @discardableResult
    private func note(
        _ outcome: SealingRound.Outcome, _ realm: RealmID, _ known: Realm?, _ recheck: Bool,
        _ accepted: Int32 = 0
    ) -> Bool {
        let now = ContinuousClock.now
        let before = known?.state
        let next: Realm
        switch outcome {
        case .busy:
            return false
        case .sealed(let tree, let head, _):
            if tree.size > known?.tree?.size ?? 0 { metrics.signed.add() }
            let state = SealingState(sealed: tree.size, head: head, halt: nil)
            if before?.halt != nil {
                log.notice("sealer.resumed", ["realm": .string(realm.name)])
            }
            next = Realm(
                tree: tree, state: state, checked: recheck ? now : known?.checked ?? now,
                accepted: accepted)
        case .halted(let halt):
            if before?.halt != halt {
                log.error(
                    "sealer.halted",
                    [
                        "realm": .string(realm.name), "code": .string(halt.code),
                        "position": halt.position.map(JSON.integer) ?? .null,
                        "reason": .string(halt.description),
                    ])
            }
            let state = SealingState(
                sealed: known?.tree?.size ?? 0, head: before?.head ?? 0, halt: halt)
            next = Realm(tree: known?.tree, state: state, checked: now, accepted: accepted)
        }
        realms.withLock { $0[realm] = next }
        metrics.show(next.state, of: realm)
        return next.state.halt == nil && next.state.lag > 0
    }
}
