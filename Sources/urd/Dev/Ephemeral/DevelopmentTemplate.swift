import Cryptography
import Glibc
import Threads
import Values

/// What a first start of `urd dev` leaves, kept for the next ones: one for each build of this program.
struct DevelopmentTemplate: Sendable {
    private let parent: String
    private let path: String

    private static let prefix = "dev-"

    /// Nil where this program's own file cannot be looked at.
    init?(environment: Environment) {
        let program = "/proc/self/exe"
        guard let facts = File.facts(program) else { return nil }
        let home = environment["HOME"] ?? "/tmp"
        parent = (environment["XDG_CACHE_HOME"] ?? home + "/.cache") + "/urd"
        let build = "\(facts.size) \(facts.modified)"
        path =
            parent + "/" + Self.prefix + Hex.encode(Array(SHA256.hash(Array(build.utf8)).prefix(8)))
    }

    var isThere: Bool { File.exists(path) }

    /// - Parameter folder: an empty one.
    func copy(to folder: DevelopmentFolder) async throws {
        try await Self.copy(path + "/.", to: folder.path)
    }

    /// Keeps the folder of a run that has ended. Those of other builds go.
    func keep(_ folder: DevelopmentFolder) async throws {
        // A cluster that lives elsewhere is not in it.
        guard !File.exists(folder.elsewhereFile) else { return }
        try File.makeFolder(parent, mode: 0o700)
        let draft = try File.makeTemporaryFolder("\(path).new-")
        do {
            try await Self.copy(folder.path + "/.", to: draft)
            for name in try File.names(in: draft) where name.hasSuffix("lock") {
                try File.remove("\(draft)/\(name)")
            }
            for name in try File.names(in: parent)
            where name.hasPrefix(Self.prefix) && !name.contains(".new-") {
                try File.removeTree("\(parent)/\(name)")
            }
            try File.move(draft, to: path)
        } catch {
            try? File.removeTree(draft)
            // Another run may have kept its own meanwhile.
            if !isThere { throw error }
        }
    }

    private static func copy(_ source: String, to target: String) async throws {
        let program = ChildProcess(
            executable: "/bin/cp", arguments: ["-a", "--reflink=auto", source, target],
            signalWhenWeDie: "TERM")
        let result = try await DedicatedThread.run { try program.run() }
        guard result.ending.isSuccess else {
            throw CommandFailure("\(source) could not be copied to \(target):\n\(result.output)")
        }
    }
}
