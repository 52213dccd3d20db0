import Glibc
import Postgres
import Threads

/// PostgreSQL's own programs for dumps. A dump is one moment of the database, taken with the rights of the schema's owner; a
/// copy of the server's files would take a role for replication, and hold all other databases too.
struct DatabaseDump: Sendable {
    static let file = "urd.dump"

    /// The folder of `pg_dump` and `pg_restore`.
    let folder: String
    /// How libpq finds the database; a password is in no list of processes.
    let environment: [String]

    /// - Parameter address: the database, as the owner of the schema.
    init(of connection: Connection, search: Environment) throws {
        folder = try PostgresPrograms.folder(
            ofClientsFor: connection.serverVersion / 10_000, environment: search)
        environment = connection.environment
    }

    /// Writes the dump to a file, encrypted where there are recipients.
    func write(to path: String, for recipients: AgeRecipients?) async throws {
        let dump = child("pg_dump", ["--format=custom", "--no-password"])
        try await Self.run([dump] + (recipients.map { [$0.program] } ?? []), to: path)
    }

    /// Brings a dump into the empty database, all of it or nothing.
    func restore(_ path: String, by identity: AgeIdentity?) async throws {
        let database = environment.first { $0.hasPrefix("PGDATABASE=") }?.dropFirst(11) ?? "urd"
        let restore = child(
            "pg_restore",
            [
                "--single-transaction", "--no-owner", "--no-password", "--dbname=\(database)",
            ])
        let programs = (identity.map { [$0.program] } ?? []) + [restore]
        try await DedicatedThread.run {
            let input = open(path, O_RDONLY | O_CLOEXEC)
            guard input >= 0 else { throw SystemFailure("read", path) }
            defer { close(input) }
            try ProgramPipe(programs).run(from: input)
        }
    }

    /// Encrypts or copies a small file, or reads it again.
    static func run(_ programs: [ChildProcess], from input: String? = nil, to path: String)
        async throws
    {
        try await DedicatedThread.run {
            let source = input.map { open($0, O_RDONLY | O_CLOEXEC) } ?? -1
            if let input, source < 0 { throw SystemFailure("read", input) }
            defer { if source >= 0 { close(source) } }
            let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard output >= 0 else { throw SystemFailure("create", path) }
            defer { close(output) }
            try ProgramPipe(programs).run(from: source >= 0 ? source : nil, to: output)
            guard fsync(output) == 0 else { throw SystemFailure("flush", path) }
        }
    }

    private func child(_ program: String, _ arguments: [String]) -> ChildProcess {
        var child = ChildProcess(
            executable: "\(folder)/\(program)", arguments: arguments, signalWhenWeDie: "TERM")
        child.environment += environment
        return child
    }
}
