import Glibc
import Threads

/// A private PostgreSQL: its own data, reachable over a socket that only its user can open.
struct Cluster: Sendable {
    let place: ClusterPlace
    let programs: PostgresPrograms
    let socketFolder: String
    let log: String
    /// Settings beside those that each cluster has.
    var more: [String] = []

    /// Settings of one whose data a crash may take.
    static let unkept = [
        "fsync=off", "full_page_writes=off", "shared_buffers=128MB", "autovacuum=off", "jit=off",
    ]

    static let database = "urd"
    /// Owns the schema; the migrations make the others' rights.
    static let owner = "urd_owner"
    static let application = "urd_app"

    /// A percent-encoded folder as the host is a socket: `postgresql://urd_app@%2Ftmp%2Fx:5432/urd`.
    func url(_ role: String) -> String {
        var host = ""
        let digits = Array("0123456789ABCDEF")
        for byte in socketFolder.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                host.unicodeScalars.append(Unicode.Scalar(byte))
            default: host += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return "postgresql://\(role)@\(host):\(ClusterPlace.port)/\(Self.database)"
    }

    // MARK: - Making

    /// Makes the cluster under another name first, so that a half-made one is never started.
    func create() async throws {
        try File.removeTree(place.draft)
        let draft = place.draft
        let program = ChildProcess(
            executable: programs.path("initdb"),
            arguments: [
                "--pgdata=\(draft)", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C", "--data-checksums", "--no-instructions",
            ],
            account: place.account, signalWhenWeDie: "TERM")
        let result = try await DedicatedThread.run { try program.run() }
        guard result.ending.isSuccess else {
            throw CommandFailure(
                "initdb could not make a database in \(place.path):\n\(result.output)")
        }
        try File.move(draft, to: place.data)
    }

    /// Makes the roles and the database, where they are missing.
    func prepareDatabase() async throws {
        let roles = """
            do $$
            begin
                if not exists (select from pg_roles where rolname = '\(Self.owner)') then
                    create role \(Self.owner) login createrole;
                end if;
            end $$
            """
        try await run(roles)
        let found = try await run(
            "select 1 from pg_database where datname = '\(Self.database)'")
        if found.isEmpty {
            try await run(
                "create database \(Self.database) owner \(Self.owner) template template0 "
                    + "encoding 'UTF8' locale 'C'")
        }
    }

    /// Once the schema is there.
    func fenceAnalysts() async throws { try await run(AnalystFences.statement, in: Self.database) }

    /// One statement as the superuser, whom only this cluster's user can be.
    @discardableResult
    private func run(_ sql: String, in database: String = "postgres") async throws -> String {
        let program = ChildProcess(
            executable: programs.path("psql"),
            arguments: [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", socketFolder, "-p",
                String(ClusterPlace.port), "-U", "postgres", "-d", database, "-c", sql,
            ],
            signalWhenWeDie: "TERM")
        let result = try await DedicatedThread.run { try program.run() }
        guard result.ending.isSuccess else {
            throw CommandFailure("The database could not be prepared:\n\(result.output)")
        }
        return result.output
    }
}

// MARK: - Running

extension Cluster {
    func start() async throws -> Postmaster {
        let output = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw SystemFailure("write", log) }
        defer { close(output) }
        if File.facts(log)?.size ?? 0 > 10_000_000 { ftruncate(output, 0) }
        let postmaster = try await Postmaster.start(
            ChildProcess(
                executable: programs.path("postgres"), arguments: settings, account: place.account,
                signalWhenWeDie: "INT", output: output))
        do {
            try await waitUntilReady(postmaster)
        } catch {
            await postmaster.stop()
            throw error
        }
        return postmaster
    }

    private var settings: [String] {
        let settings =
            [
                "listen_addresses=", "unix_socket_directories=\(Self.quoted(socketFolder))",
                "port=\(ClusterPlace.port)", "timezone=UTC", "log_timezone=UTC",
                "cluster_name=urd-dev", "log_checkpoints=off",
            ] + Self.room + more
        return ["-D", place.data] + settings.flatMap { ["-c", $0] }
    }

    /// What PostgreSQL takes by itself is meant for the smallest machines. Memory and disk are used only
    /// when there is something to keep in them.
    private static let room = [
        "shared_buffers=512MB", "max_wal_size=4GB", "wal_compression=lz4",
    ]

    /// The setting is a list, where a space in a folder's name needs quotes.
    private static func quoted(_ folder: String) -> String {
        let doubled = folder.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + doubled.joined(separator: "\"\"") + "\""
    }

    /// Recovery after a crash may take its time; only the server's own end ends the waiting.
    private func waitUntilReady(_ postmaster: Postmaster) async throws {
        while true {
            if let ending = postmaster.ending {
                throw CommandFailure(
                    "PostgreSQL did not start (\(ending.description)):\n\(logEnd())",
                    remedy: "The whole log is in \(log)")
            }
            if let file = PostmasterFile.read(in: place.data), file.isReady,
                file.process == postmaster.process
            {
                return
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func logEnd() -> String {
        let text = (try? File.text(log)) ?? ""
        return text.split(whereSeparator: \.isNewline).suffix(8).map { "  " + $0 }
            .joined(separator: "\n")
    }

    /// Ends the processes of a run that was killed before it could tidy up. The caller holds the
    /// folder's lock, so a server that works in the cluster's data is such a leftover.
    /// `inUse` is the socket's folder of the run that goes on.
    static func endLeftovers(
        in place: ClusterPlace, inUse: String? = nil, say: (String) -> Void
    ) async throws {
        let file = PostmasterFile.read(in: place.data)
        var left = RunningProcess.inFolder(place.data)
        if !left.isEmpty { say("Stopping the PostgreSQL that an earlier run left behind") }
        for signal in [SIGINT, SIGQUIT, SIGKILL] where !left.isEmpty {
            // The server stops its own processes; orphans of a server that is gone are asked too.
            let server = left.first { $0 == file?.process }
            for process in server.map({ [$0] }) ?? left { kill(process, signal) }
            let deadline = ContinuousClock.now + .seconds(signal == SIGINT ? 20 : 5)
            while !left.isEmpty, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
                left = RunningProcess.inFolder(place.data)
            }
        }
        guard left.isEmpty else {
            throw CommandFailure("These processes of an earlier run do not end: \(left)")
        }
        if let file {
            // Its number may by now be another program's, for whose end PostgreSQL would wait.
            if RunningProcess.exists(file.process) {
                try File.remove(place.data + "/postmaster.pid")
            }
            if let folder = file.socketFolder, folder != inUse,
                ClusterPlace.isTemporarySocketFolder(folder)
            {
                try File.removeTree(folder)
            }
        }
    }

    /// Removes the temporary socket folder, which must not outlive the run.
    func tidy() {
        if ClusterPlace.isTemporarySocketFolder(socketFolder) { try? File.removeTree(socketFolder) }
    }
}
