import Glibc

/// Where the private cluster lives: a folder of the user who runs it, which no other user can open.
struct ClusterPlace: Equatable, Sendable {
    let path: String
    /// The user that runs the cluster; nil for the current user.
    let account: Account?

    var data: String { path + "/data" }
    /// `initdb` works here; only a finished cluster gets the name `data`.
    var draft: String { path + "/data.new" }
    var ownerFile: String { path + "/made-by-urd-dev" }

    /// The longest path that a socket can have (`sun_path` less its end).
    static let longestSocketPath = 107
    static let port = 5432

    private static let temporaryPrefix = "/tmp/urd-socket-"

    /// Short enough, and without the comma that libpq takes for the end of a host.
    static func socketFits(in folder: String) -> Bool {
        "\(folder)/.s.PGSQL.\(port)".utf8.count <= longestSocketPath
            && !folder.utf8.contains(UInt8(ascii: ","))
    }

    static func isTemporarySocketFolder(_ path: String) -> Bool {
        path.hasPrefix(temporaryPrefix) && Path.parent(of: path) == "/tmp"
    }

    /// The major version of the cluster that is there.
    var version: Int? {
        guard let text = try? File.text(data + "/PG_VERSION") else { return nil }
        return Int(text.prefix(while: \.isNumber))
    }

    /// A folder of the cluster's user for the socket; a short one elsewhere when this is too long.
    func makeSocketFolder() throws(SystemFailure) -> String {
        let usual = path + "/socket"
        let folder: String
        if Self.socketFits(in: usual) {
            try File.makeFolder(usual, mode: 0o700)
            folder = usual
        } else {
            folder = try File.makeTemporaryFolder(Self.temporaryPrefix)
        }
        if let account { try File.give(folder, to: account) }
        return folder
    }

    /// Says whose it is: what has no mark is never removed.
    func mark(for folder: DevelopmentFolder) throws(SystemFailure) {
        try File.writeAtomically(Array((folder.path + "\n").utf8), to: ownerFile, mode: 0o644)
    }

    /// Removes the cluster, if it is one of ours.
    func wipe() throws {
        guard File.exists(path) else { return }
        guard try File.exists(ownerFile) || File.names(in: path).isEmpty else {
            throw CommandFailure(
                "\(path) was not made by urd dev; it is left alone",
                remedy: "Choose another folder: URD_DATA=…")
        }
        try File.removeTree(path)
    }
}

// MARK: - Choosing

extension ClusterPlace {
    private static let elsewhere = ["/var/lib/urd-dev", "/var/tmp/urd-dev"]

    /// The folder of the running cluster; nil without one.
    static func existing(in folder: DevelopmentFolder) throws -> ClusterPlace? {
        var path = folder.postgres
        if let text = try? File.text(folder.elsewhereFile) {
            path = String(text.prefix(while: { !$0.isNewline }))
        }
        guard let facts = File.facts(path) else { return nil }
        // The folder's owner runs it: also when another user started it the first time.
        if facts.owner == geteuid(), !Account.isRoot {
            return ClusterPlace(path: path, account: nil)
        }
        guard Account.isRoot else {
            throw CommandFailure(
                "\(path) belongs to another user",
                remedy: "Run as root, as when it was made, or choose another folder: URD_DATA=…")
        }
        if facts.owner == 0 { return nil }
        return ClusterPlace(
            path: path,
            account: Account(name: "user \(facts.owner)", user: facts.owner, group: facts.group))
    }

    /// A new place: inside the folder if the cluster's user can get there, else one beside the
    /// system's other state. `say` hears of the latter.
    static func make(
        for folder: DevelopmentFolder, account: Account?, say: (String) -> Void
    ) throws -> ClusterPlace {
        try File.makeFolder(folder.postgres, mode: 0o700)
        guard let account else { return try marked(folder.postgres, nil, folder) }
        try File.give(folder.postgres, to: account)
        if canWrite(account, folder.postgres) {
            return try marked(folder.postgres, account, folder)
        }
        try File.removeTree(folder.postgres)
        sweep()
        for parent in elsewhere {
            do {
                try File.makeFolder(parent)
                guard isRoots(parent) else { continue }
                let path = try File.makeTemporaryFolder(parent + "/")
                try File.give(path, to: account)
                guard canWrite(account, path) else {
                    try File.removeTree(path)
                    continue
                }
                // Named before it is marked: another run that sweeps takes what is marked and not
                // named for abandoned.
                try File.writeAtomically(
                    Array((path + "\n").utf8), to: folder.elsewhereFile, mode: 0o644)
                let place = try marked(path, account, folder)
                say(
                    "PostgreSQL runs as user '\(account.name)', who cannot enter \(folder.path); "
                        + "its data is in \(path)")
                return place
            } catch is SystemFailure {
                continue
            }
        }
        throw CommandFailure(
            "There is no folder where user '\(account.name)' could keep the database",
            remedy: "Choose one that this user can enter: URD_DATA=…")
    }

    private static func marked(
        _ path: String, _ account: Account?, _ folder: DevelopmentFolder
    ) throws -> ClusterPlace {
        let place = ClusterPlace(path: path, account: account)
        try place.mark(for: folder)
        return place
    }

    /// What another user put there first is not ours to use.
    private static func isRoots(_ folder: String) -> Bool {
        guard let facts = File.facts(folder, following: false) else { return false }
        return facts.isFolder && facts.owner == 0 && facts.permissions & 0o022 == 0
    }

    private static func canWrite(_ account: Account, _ path: String) -> Bool {
        let test = ChildProcess(
            executable: "/usr/bin/test", arguments: ["-w", path, "-a", "-x", path],
            account: account)
        return (try? test.run().ending.isSuccess) ?? false
    }

    /// Places whose folder is gone have no owner any more.
    private static func sweep() {
        for parent in elsewhere where isRoots(parent) {
            for name in (try? File.names(in: parent)) ?? [] {
                let place = ClusterPlace(path: "\(parent)/\(name)", account: nil)
                guard let text = try? File.text(place.ownerFile) else { continue }
                let owner = DevelopmentFolder(path: String(text.prefix(while: { !$0.isNewline })))
                let named = try? File.text(owner.elsewhereFile)
                if named != place.path + "\n", RunningProcess.inFolder(place.data).isEmpty {
                    try? File.removeTree(place.path)
                }
            }
        }
    }
}
