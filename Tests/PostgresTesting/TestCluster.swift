import EventStore
public import Foundation
import Postgres
import Synchronization

/// A real PostgreSQL for tests: started on demand in a folder of its own, gone with the process
/// that started it, however that ends.
public final class TestCluster: Sendable {
    /// One for all tests that do no harm to it.
    public static let shared: TestCluster = {
        do {
            return try TestCluster()
        } catch {
            preconditionFailure("A test cluster must start: \(error)")
        }
    }()

    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    private struct State {
        var shell: Process?
        var numbers = 0
    }

    public let folder: String
    private let binaries: String
    private let settings: [String]
    private let state = Mutex(State())
    private let templates = Mutex<Set<String>>([])

    /// In memory where there is room for many: a database is some hundred files, which take long to make and to remove.
    private static let root: String = {
        let memory = "/dev/shm"
        let facts = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let free = (facts?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        return free > 8 << 30 ? memory : "/tmp"
    }()

    /// - Parameter settings: beside the usual ones, such as `fsync=on`.
    public convenience init(settings: [String] = []) throws {
        try self.init(emptyFolder: settings)
        try run(
            asServer([
                "\(binaries)/initdb", "-D", "\(folder)/data", "-U", "postgres", "--auth=trust",
                "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
            ]))
        try start()
        let roles = try Connection(address("postgres", "postgres"))
        try roles.run("create role urd_owner login createrole")
    }

    /// A standby that streams from another cluster, with all that is in it, and waits for nothing.
    public convenience init(standbyOf primary: TestCluster, settings: [String] = []) throws {
        try self.init(emptyFolder: settings)
        try run(
            asServer([
                "\(binaries)/pg_basebackup", "-D", "\(folder)/data", "--write-recovery-conf",
                "--checkpoint=fast", "--wal-method=stream", "--no-sync",
                "-d", "host=\(primary.folder) user=postgres",
            ]))
        try start()
    }

    private init(emptyFolder settings: [String]) throws {
        binaries = try Self.findBinaries()
        self.settings = settings
        folder =
            "\(Self.root)/urd-test-\(ProcessInfo.processInfo.processIdentifier)-"
            + String(UInt64.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        if geteuid() == 0 { try run(["chown", "postgres", folder]) }
    }

    deinit {
        try? stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: - Running

    /// A shell holds the server while a watch waits on a pipe from here. When this process ends, in
    /// whatever way, the pipe closes: the watch stops the server and the shell clears the folder.
    /// When the server ends first, the watch ends with it, so that it can't stop the next one.
    public func start() throws {
        let options =
            [
                "listen_addresses=", "unix_socket_directories=\(folder)", "fsync=off",
                "max_connections=200", "timezone=UTC", "log_min_messages=warning",
            ] + settings
        let server = asServer(
            ["\(binaries)/postgres", "-D", "\(folder)/data"] + options.flatMap { ["-c", $0] })
        let quoted = server.map { "'\($0)'" }.joined(separator: " ")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            """
            exec 3<&0; \(quoted) </dev/null >>\(folder)/log 2>&1 3<&- & server=$!
            ( read _ <&3; pid=$(head -n 1 \(folder)/data/postmaster.pid 2>/dev/null) && \
            kill -INT "$pid" 2>/dev/null; pkill -CONT -P "$pid" 2>/dev/null; exit 7 ) & watch=$!
            wait $server; kill $watch 2>/dev/null; wait $watch
            [ $? -ne 7 ] || rm -rf \(folder)
            """,
        ]
        shell.standardInput = Pipe()
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.launchUnmasked()
        state.withLock { $0.shell = shell }
        let deadline = Date(timeIntervalSinceNow: 60)
        while Date() < deadline {
            if (try? reading()) != nil { return }
            guard shell.isRunning else { break }
            usleep(20_000)
        }
        throw Problem(description: "PostgreSQL did not start: see \(folder)/log")
    }

    /// A connection of the superuser, also where the server is a standby.
    func reading() throws -> Connection {
        try Connection(address("postgres", "postgres"), readOnly: true)
    }

    /// Stops the server: like a crash when it is immediate.
    public func stop(immediate: Bool = false) throws {
        guard let shell = state.withLock({ $0.shell.take() }) else { return }
        if let process = serverProcess { kill(process, immediate ? SIGQUIT : SIGINT) }
        shell.waitUntilExit()
    }

    /// The postmaster.
    public var serverProcess: pid_t? {
        guard
            let file = try? String(
                contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8),
            let line = file.split(separator: "\n").first
        else { return nil }
        return pid_t(line)
    }

    // MARK: - Databases

    public func address(_ database: String, _ role: String) -> String {
        "host=\(folder) user=\(role) dbname=\(database)"
    }

    /// A new database, migrated unless told otherwise.
    public func makeDatabase(migrated: Bool = true) throws -> TestDatabase {
        try makeDatabase(from: migrated ? migratedTemplate() : nil)
    }

    /// A copy of a migrated database in which more was made, once for all copies.
    public func makeDatabase(
        like name: String, making more: (_ owner: String) throws -> Void
    ) throws -> TestDatabase {
        let migrated = try migratedTemplate()
        return try makeDatabase(from: template(name, from: migrated, making: more))
    }

    private func migratedTemplate() throws -> String {
        try template("migrated", from: nil) { _ = try Migrator(Connection($0)).migrate() }
    }

    private func makeDatabase(from template: String?) throws -> TestDatabase {
        let number = state.withLock {
            $0.numbers += 1
            return $0.numbers
        }
        let name = "test_\(number)"
        try createDatabase(name, from: template)
        return TestDatabase(cluster: self, name: name, hosts: folder)
    }

    private func template(
        _ name: String, from other: String?, making more: (_ owner: String) throws -> Void
    ) throws -> String {
        try templates.withLock { made in
            guard !made.contains(name) else { return }
            try createDatabase(name, from: other)
            try more(address(name, "urd_owner"))
            made.insert(name)
        }
        return name
    }

    private func createDatabase(_ name: String, from template: String?) throws {
        let administration = try Connection(address("postgres", "postgres"))
        try administration.run(
            "create database \(name) template \(template ?? "template1") owner urd_owner")
    }

    // MARK: - Programs

    private func asServer(_ command: [String]) -> [String] {
        geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] + command : command
    }

    private func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = FileHandle.nullDevice
        try process.launchUnmasked()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Problem(description: "\(command.joined(separator: " ")) failed")
        }
    }

    private static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let newest = versions.compactMap(Int.init).max() else {
            throw Problem(description: "PostgreSQL is not installed")
        }
        return "\(root)/\(newest)/bin"
    }
}

/// One database of a test cluster, and the addresses of those who use it.
public struct TestDatabase: Sendable {
    public let cluster: TestCluster
    public let name: String
    /// The servers that may have it, parted by commas.
    public let hosts: String

    public var owner: String { address("urd_owner") }
    public var application: String { address("urd_app") }
    public var observer: String { address("urd_observer") }
    /// Whom nothing holds back: for tests that tamper.
    public var superuser: String { address("postgres") }

    private func address(_ role: String) -> String {
        "host=\(hosts) user=\(role) dbname=\(name)"
    }

    /// The same where the addresses name these servers only.
    public func at(_ hosts: String) -> TestDatabase {
        TestDatabase(cluster: cluster, name: name, hosts: hosts)
    }

    public func asSuperuser(_ sql: String) throws {
        try Connection(superuser).run(sql)
    }
}
