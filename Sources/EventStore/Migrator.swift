import Cryptography
public import Postgres
import Values

/// Brings a database to this binary's schema, or says how far it is from it.
public struct Migrator {
    /// Why nothing was migrated.
    public enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// The schema is newer than this binary: an older binary must not touch it.
        case schemaIsNewer(schema: Int, binary: Int)
        /// A step that was applied reads differently now.
        case historyDiffers(version: Int)

        public var description: String {
            switch self {
            case .schemaIsNewer(let schema, let binary):
                "the database has schema version \(schema), this binary knows up to \(binary): "
                    + "start the release that migrated it, or a newer one"
            case .historyDiffers(let version):
                "migration \(version) was applied with another text than this binary has: "
                    + "the database belongs to another build"
            }
        }
    }

    public struct State: Sendable, Equatable {
        /// 0: an empty database.
        public let schema: Int
        public let binary: Int
        public let pending: [String]

        public var isCurrent: Bool { pending.isEmpty }
    }

    /// The schema version that this binary is made for.
    public static let newestSchema = Migrations.newest

    private let connection: Connection

    /// - Parameter connection: as the owner of the schema, or of an empty database.
    public init(_ connection: Connection) {
        self.connection = connection
    }

    public func state() throws -> State {
        let applied = try applied()
        try check(applied)
        return State(
            schema: applied.keys.max() ?? 0, binary: Migrations.newest,
            pending: Migrations.all.filter { applied[$0.version] == nil }
                .map { "\($0.version) \($0.name)" })
    }

    /// Applies what is missing, step by step, each in a transaction of its own.
    /// - Returns: what was applied.
    public func migrate() throws -> [String] {
        try connection.run("select pg_advisory_lock(\(Self.lock))")
        defer { _ = try? connection.run("select pg_advisory_unlock(\(Self.lock))") }
        try connection.run(
            """
            set client_min_messages = warning;
            create schema if not exists urd;
            create table if not exists urd.migration (
                version integer primary key,
                name text not null,
                digest bytea not null,
                at timestamptz not null default now()
            )
            """)
        let applied = try applied()
        try check(applied)
        var done: [String] = []
        for step in Migrations.all where applied[step.version] == nil {
            try connection.transaction { connection throws(Postgres.Failure) in
                try connection.run(String(decoding: step.sql, as: UTF8.self))
                var parameters = Parameters()
                parameters.add(Int32(step.version))
                parameters.add(step.name)
                parameters.add(bytes: SHA256.hash(step.sql))
                try connection.executeOnce(
                    "insert into urd.migration (version, name, digest) values ($1, $2, $3)",
                    parameters)
            }
            done.append("\(step.version) \(step.name)")
        }
        return done
    }

    /// Chosen once; keeps migrations of several nodes apart.
    private static let lock = 7_355_608

    private func applied() throws(Postgres.Failure) -> [Int: [UInt8]] {
        let exists = try connection.executeOnce(
            "select to_regclass('urd.migration') is not null", Parameters())
        guard exists.bool(0, 0) else { return [:] }
        let rows = try connection.executeOnce(
            "select version, digest from urd.migration", Parameters())
        var applied: [Int: [UInt8]] = [:]
        for row in 0..<rows.count { applied[Int(rows.int32(row, 0))] = rows.bytes(row, 1) }
        return applied
    }

    private func check(_ applied: [Int: [UInt8]]) throws(Refusal) {
        let schema = applied.keys.max() ?? 0
        guard schema <= Migrations.newest else {
            throw .schemaIsNewer(schema: schema, binary: Migrations.newest)
        }
        for step in Migrations.all {
            if let digest = applied[step.version], digest != SHA256.hash(step.sql) {
                throw .historyDiffers(version: step.version)
            }
        }
    }
}
