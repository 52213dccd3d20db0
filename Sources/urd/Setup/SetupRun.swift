import Glibc
import Threads

/// A first installation, step by step. Each step looks first, so that a setup that was interrupted is run again.
struct SetupRun: Sendable {
    let folder: SetupFolder
    let administrator: String?
    let realm: SetupRealm
    /// Settings that were given with the command.
    let settings: Settings
    let console: Console

    func run() async throws -> SetupReport {
        var report = SetupReport(console)
        try folder.make()
        // Two that make a key at once would leave one of them with a log that it cannot read.
        guard let lock = try FolderLock.take(folder.lock) else {
            throw CommandFailure("another setup is under way in \(folder.path)")
        }
        defer { withExtendedLifetime(lock) {} }
        let addresses = try await prepareDatabase(&report)
        report.add("settings in \(folder.settings)", try !keepSettings().isEmpty)
        let steps = try await SchemaUpdate.run(addresses.owner, console: console)
        report.add("schema", !steps.isEmpty)
        let requests = try await AdminRequests(
            Settings(
                Settings.table,
                from: SettingsSources(flags: [
                    Settings.databaseURL.name: [addresses.application],
                    Settings.masterKeyFile.name: [folder.masterKey],
                ])))
        defer { requests.close() }
        try await realm.make(requests, &report)
        return report
    }

    private func prepareDatabase(
        _ report: inout SetupReport
    ) async throws -> SetupDatabase.Addresses {
        let files = (
            owner: folder.secret(Settings.databaseOwnerURL),
            application: folder.secret(Settings.databaseURL)
        )
        let addresses: SetupDatabase.Addresses
        let isKnown = File.exists(files.owner) && File.exists(files.application)
        if isKnown {
            addresses = SetupDatabase.Addresses(
                owner: try Self.line(files.owner), application: try Self.line(files.application))
        } else {
            addresses = try await DedicatedThread.run { [administrator] in
                try SetupDatabase(administrator: administrator).make()
            }
        }
        // A new key beside an old log would read nothing of it.
        let hasKey = File.exists(folder.masterKey)
        if !hasKey, try await DedicatedThread.run({ try SetupDatabase.holdsLog(addresses.owner) }) {
            throw CommandFailure(
                "the database '\(SetupDatabase.name)' holds a log, and its key is not at "
                    + folder.masterKey,
                remedy:
                    "Put the key back there. Without it, what is sealed in the log cannot be read.")
        }
        if !hasKey { try MasterKeyFile.create(folder.masterKey) }
        report.add("master key \(folder.masterKey)", !hasKey)
        if !isKnown {
            try folder.keep(addresses.owner, of: Settings.databaseOwnerURL)
            try folder.keep(addresses.application, of: Settings.databaseURL)
        }
        report.add("database \(SetupDatabase.name) and its roles", !isKnown)
        return addresses
    }

    private static func line(_ path: String) throws(SystemFailure) -> String {
        String(try File.text(path).prefix(while: { !$0.isNewline }))
    }

    /// - Returns: the variables that were added to the file.
    private func keepSettings() throws(SystemFailure) -> [String] {
        var values: [(variable: String, text: String)] = []
        for entry in settings.entries where entry.origin == .flag || entry.setting.isSecret {
            guard let text = entry.text else { continue }
            if entry.setting.isSecret {
                try folder.keep(text, of: entry.setting)
            } else {
                values.append((entry.setting.variable, text))
            }
        }
        return try folder.add(values)
    }
}
