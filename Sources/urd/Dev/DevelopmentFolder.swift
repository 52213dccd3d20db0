import Glibc

/// The folder of `urd dev` (`URD_DATA`) and what is in it.
struct DevelopmentFolder: Equatable, Sendable {
    let path: String

    var lockFile: String { path + "/lock" }
    var environmentFile: String { path + "/dev.env" }
    var masterKeyFile: String { path + "/master.key" }
    var checkpoints: String { path + "/checkpoints" }
    var databaseLog: String { path + "/postgres.log" }
    /// The cluster's usual place.
    var postgres: String { path + "/postgres" }
    /// Names the cluster's place when it is another one.
    var elsewhereFile: String { path + "/postgres-at" }

    /// `URD_DATA`, else `.dev` here, else a folder for state in the user's home.
    init(environment: Environment) throws(SystemFailure) {
        if let given = environment["URD_DATA"] {
            path = try Path.absolute(given)
            return
        }
        let here = try Path.currentFolder()
        if File.exists(here + "/.dev") || access(here, W_OK) == 0 {
            path = here + "/.dev"
            return
        }
        let home = environment["HOME"] ?? "/tmp"
        path = try Path.absolute((environment["XDG_STATE_HOME"] ?? home + "/.local/state") + "/urd")
    }

    init(path: String) {
        self.path = path
    }

    /// Makes it, open enough that the user who runs PostgreSQL may pass through; what is secret in
    /// it protects itself.
    func prepare() throws {
        try File.makeFolder(path, mode: 0o755)
        guard let facts = File.facts(path), facts.owner == geteuid() || Account.isRoot else {
            throw CommandFailure(
                "\(path) belongs to another user",
                remedy: "Run as that user, or choose another folder: URD_DATA=…")
        }
    }

    /// The private port of the last run, if it is free now.
    func lastPrivatePort() -> UInt16? {
        guard let text = try? File.text(environmentFile),
            let port = DevelopmentEnvironment.privatePort(in: text), Port.state(of: port) == .free
        else { return nil }
        return port
    }

    /// Removes what `urd dev` made, and nothing else that may be in the folder.
    func wipe() throws(SystemFailure) {
        for file in [environmentFile, masterKeyFile, databaseLog, elsewhereFile] {
            try File.remove(file)
        }
        try File.removeTree(checkpoints)
    }
}
