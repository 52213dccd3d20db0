import EventSourcing
import EventStore
import JSON
import Values

/// Brings a backup back, or shows that it could be brought back.
struct RestoreCommand: Subcommand {
    static let path = ["restore"]
    static let summary = "Bring a backup into an empty database, or verify it"
    static let examples = ["urd restore --check backups"]
    static let details = """
        DIR is a backup, or a folder of backups, of which the newest is meant.

        With --check it touches no database that is there: it compares each file with the manifest, starts
        a private PostgreSQL in a folder of its own, restores the dump into it, verifies the log of each realm and
        its checkpoints as `urd verify` does, and removes all of it again. It says which part is damaged or missing, and ends
        with 1 then. It needs the master key, and room for the whole database in --scratch.

        Without --check it restores into the database of database-owner-url, which has to be empty: all of it or nothing.
        Checkpoints that checkpoint-directory does not have are put there.
        """
    static let operands = [Operand("dir", "A backup, or a folder of backups")]
    static let options = [
        Option.flag("check", "Only show whether the backup is whole"),
        Option.value("identity", "file", "Private key of age or SSH for an encrypted backup"),
        Option.value("scratch", "dir", "Folder for the private PostgreSQL; /var/tmp by default"),
        Option.json,
    ]
    static let settings: [any AnySetting] = [
        Settings.databaseOwnerURL, Settings.checkpointDirectory, Settings.masterKeyFile,
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings()
        let path = try BackupFolder.backup(at: call.arguments.words["dir"]?.first ?? ".")
        let identity = try call.arguments.value("identity").map {
            try AgeIdentity($0, environment: call.environment)
        }
        if call.arguments.has("check") {
            return try await RestoreCheck(path: path, identity: identity, call: call).run(
                masterKey: settings.require(Settings.masterKeyFile))
        }
        let address = try settings.require(Settings.databaseOwnerURL)
        let parts = try BackupParts(path)
        if let fault = parts.findings.first(where: { $0.fault != nil }) {
            throw CommandFailure(
                "nothing was restored: \(fault.part) is \(fault.fault ?? "")",
                remedy: "urd restore --check says what of it is whole.")
        }
        try await RestoreRun(parts: parts, identity: identity, environment: call.environment)
            .run(at: address)
        if let folder = settings[Settings.checkpointDirectory] {
            try await parts.copyCheckpoints(to: folder, by: identity)
        }
        var next = ["urd analyst fences | sudo -u postgres psql -d urd", "urd verify"]
        if parts.manifest?.schema != Migrator.newestSchema { next.insert("urd migrate", at: 0) }
        guard !call.arguments.has("json") else {
            call.console.write([
                "restored": .string(path), "next": .array(next.map { .string($0) }),
            ])
            return .success
        }
        call.console.write(
            "Restored \(path). Next:\n" + next.map { "  \($0)" }.joined(separator: "\n"))
        return .success
    }
}

/// Shows of a backup whether it is whole, and what is wrong with it.
struct RestoreCheck: Sendable {
    let path: String
    let identity: AgeIdentity?
    let call: Invocation

    func run(masterKey: String) async throws -> ExitCode {
        let parts = try BackupParts(path)
        var findings = parts.findings
        var logs: LogReport?
        if parts.dump == nil {
            if parts.manifest == nil {
                findings.append(.init(part: DatabaseDump.file, fault: "missing"))
            }
        } else {
            do {
                logs = try await restored(parts, masterKey)
                findings += behind(parts.manifest, logs)
            } catch let failure as CommandFailure {
                findings.append(.init(part: "database", fault: failure.what))
            }
        }
        let isWhole = findings.allSatisfy { $0.fault == nil } && logs?.isFine == true
        var table = Table("part", "result")
        for one in findings { table.add(one.part, one.fault ?? "as it was written") }
        let isJSON = call.arguments.has("json")
        if !isJSON, let logs { call.console.write(logs.table.render(width: Table.width) + "\n") }
        call.console.write(
            table,
            json: [
                "backup": .string(path), "whole": .bool(isWhole),
                "at": parts.manifest.map { .string($0.at.description) } ?? .null,
                "parts": .array(
                    findings.map {
                        ["part": .string($0.part), "fault": $0.fault.map { .string($0) } ?? .null]
                    }), "logs": logs?.json ?? .null,
            ], asJSON: isJSON)
        if !isJSON {
            call.console.write(
                isWhole ? "\nThe backup \(path) is whole." : "\nThe backup \(path) is damaged.")
        }
        return isWhole ? .success : .failure
    }

    /// The logs as they are in a private PostgreSQL that has the dump.
    private func restored(_ parts: BackupParts, _ masterKey: String) async throws -> LogReport {
        try await ScratchCluster.run(
            in: Path.absolute(call.arguments.value("scratch") ?? "/var/tmp"),
            environment: call.environment, say: { call.console.complain($0) },
            { scratch in
                try await verified(scratch.cluster, in: scratch.folder, parts, masterKey)
            })
    }

    private func verified(
        _ cluster: Cluster, in folder: String, _ parts: BackupParts, _ masterKey: String
    ) async throws -> LogReport {
        let owner = cluster.url(Cluster.owner)
        try await RestoreRun(parts: parts, identity: identity, environment: call.environment)
            .run(at: owner)
        // One of an earlier version is verified as this one would have it.
        _ = try await SchemaUpdate.run(owner, console: call.console)
        let checkpoints = "\(folder)/checkpoints"
        try await parts.copyCheckpoints(to: checkpoints, by: identity)
        let store = try Store(
            address: cluster.url(Cluster.application), masterKeyFile: masterKey)
        defer { store.close() }
        try await store.checkSchema()
        let known = parts.manifest.map { $0.realms.keys.compactMap { RealmID($0) } } ?? []
        return try await LogReport(
            of: LogReport.realms(store, checkpoints: checkpoints).union(known).sorted(),
            in: store, checkpoints: checkpoints, console: call.console)
    }

    /// Realms whose log is intact and ends before where it was when the backup began.
    private func behind(_ manifest: BackupManifest?, _ logs: LogReport?) -> [BackupParts.Finding] {
        (logs?.results ?? []).compactMap { result in
            guard let had = manifest?.realms[result.realm.name], result.isIntact, result.last < had
            else { return nil }
            return BackupParts.Finding(
                part: "log of \(result.realm)",
                fault: "ends at position \(result.last), and had \(had) when the backup began")
        }
    }
}
