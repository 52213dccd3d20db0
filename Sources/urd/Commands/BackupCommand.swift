import JSON

/// Writes the database and the checkpoints where a lost machine does not take them along.
struct BackupCommand: Subcommand {
    static let path = ["backup"]
    static let summary = "Write a backup of the database and of the checkpoints"
    static let examples = ["urd backup backups --keep 14"]
    static let details = """
        Makes a folder named after the moment in DIR, with a dump of the database (pg_dump, as the owner of
        the schema), the last signed checkpoint of each realm and a manifest of sizes and SHA-256 sums. It has another
        name until it is whole. Urd goes on meanwhile. `urd restore --check` shows that a backup is of use.

        The master key is not in it, unless --with-master-key says so: with both, everything can be read.

        With --recipient each file is encrypted by the program age. With --keep older backups than the newest so many are
        removed, once this one is whole.
        """
    static let operands = [Operand("dir", "Folder of the backups; made where it is missing")]
    static let options = [
        Option.value("keep", "number", "Keep so many backups, and remove older ones"),
        Option.values(
            "recipient", "key|file", "Encrypt to a public key of age or SSH, or a file of them"),
        Option.flag("with-master-key", "Put the master key into the backup"), Option.json,
    ]
    static let settings: [any AnySetting] = [
        Settings.databaseOwnerURL, Settings.checkpointDirectory, Settings.masterKeyFile,
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings()
        let keep = try call.arguments.value("keep").map { text throws(UsageError) in
            guard let count = Int(text), count > 0 else {
                throw UsageError("--keep must be a number from 1 on, not '\(text)'")
            }
            return count
        }
        let recipients = call.arguments.values["recipient"] ?? []
        let folder = call.arguments.words["dir"]?.first ?? "."
        let done = try await BackupRun(
            folder: BackupFolder(path: try Path.absolute(folder)),
            address: try settings.require(Settings.databaseOwnerURL),
            checkpoints: settings[Settings.checkpointDirectory],
            masterKey: call.arguments.has("with-master-key")
                ? try settings.require(Settings.masterKeyFile) : nil,
            recipients: recipients.isEmpty
                ? nil : try AgeRecipients(recipients, environment: call.environment),
            keep: keep, environment: call.environment
        ).run()
        if settings[Settings.checkpointDirectory] == nil {
            call.console.complain(
                "The checkpoints are those of the database, which vouch for nothing that is altered there: "
                    + "set checkpoint-directory.")
        }
        let manifest = done.manifest
        var table = Table("backup", "bytes", "realms", "events", numbers: ["bytes", "events"])
        let events = manifest.realms.values.reduce(0, +)
        table.add(done.path, String(manifest.bytes), String(manifest.realms.count), String(events))
        call.console.write(
            table,
            json: [
                "path": .string(done.path), "manifest": .object(manifest.members),
                "removed": .array(done.removed.map { .string($0) }),
            ], asJSON: call.arguments.has("json"))
        return .success
    }
}
