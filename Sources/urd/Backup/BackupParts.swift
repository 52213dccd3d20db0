import Glibc

/// What is in the folder of a backup, held against its manifest.
struct BackupParts: Sendable {
    /// One part of a backup, and what was found of it.
    struct Finding: Equatable, Sendable {
        let part: String
        /// What is wrong with the part; nil where the file is as it was written.
        let fault: String?
    }

    let path: String
    /// Nil where the manifest is missing or damaged.
    let manifest: BackupManifest?
    let findings: [Finding]

    /// Reads each file to its end.
    init(_ path: String) throws {
        self.path = path
        let file = "\(path)/\(BackupManifest.file)"
        let bytes = File.exists(file) ? try File.bytes(file) : nil
        let manifest = bytes.flatMap { BackupManifest($0) }
        self.manifest = manifest
        var findings = [
            Finding(
                part: BackupManifest.file,
                fault: manifest != nil
                    ? nil
                    : bytes == nil
                        ? "missing: nothing says what the backup had"
                        : "altered or cut off: it does not have its own sum")
        ]
        for part in manifest?.parts ?? [] {
            findings.append(Finding(part: part.name, fault: try Self.fault(of: part, in: path)))
        }
        self.findings = findings
    }

    private static func fault(of part: BackupManifest.Part, in path: String) throws -> String? {
        let file = "\(path)/\(part.name)"
        guard let facts = File.facts(file), facts.isRegular else { return "missing" }
        if facts.size < part.size {
            return "cut off: it has \(facts.size) of \(part.size) bytes"
        }
        if facts.size > part.size {
            return "altered: it has \(facts.size) bytes instead of \(part.size)"
        }
        return try SHA256File.sum(of: file) == part.sha256 ? nil : "altered: its SHA-256 differs"
    }

    /// The name of the dump; nil where it is missing or damaged.
    var dump: String? {
        let names = [DatabaseDump.file, DatabaseDump.file + AgeRecipients.fileExtension]
        if manifest != nil {
            return findings.first { names.contains($0.part) && $0.fault == nil }?.part
        }
        return names.first { File.exists("\(path)/\($0)") }
    }

    /// Files of checkpoints that are as they were written; all that are there where no manifest says so.
    func checkpoints() throws(SystemFailure) -> [String] {
        let folder = BackupRun.checkpointFolder
        guard manifest == nil else {
            return findings.filter { $0.part.hasPrefix(folder + "/") && $0.fault == nil }
                .map(\.part)
        }
        guard File.exists("\(path)/\(folder)") else { return [] }
        return try File.names(in: "\(path)/\(folder)").map { "\(folder)/\($0)" }
    }

    /// Copies the checkpoints that a folder does not have yet, in the clear.
    func copyCheckpoints(to folder: String, by identity: AgeIdentity?) async throws {
        try File.makeFolder(folder, mode: 0o700)
        for part in try checkpoints() {
            var name = String(part.dropFirst(BackupRun.checkpointFolder.utf8.count + 1))
            let isEncrypted = name.hasSuffix(AgeRecipients.fileExtension)
            if isEncrypted { name.removeLast(AgeRecipients.fileExtension.utf8.count) }
            let target = "\(folder)/\(name)"
            if File.exists(target) { continue }
            guard isEncrypted else {
                try File.writeAtomically(File.bytes("\(path)/\(part)"), to: target, mode: 0o644)
                continue
            }
            guard let identity else { throw Self.noIdentity }
            try await DatabaseDump.run(
                [identity.program], from: "\(path)/\(part)", to: target)
        }
    }

    static let noIdentity = CommandFailure(
        "the backup is encrypted", remedy: "Name the file of the private key: --identity FILE")
}
