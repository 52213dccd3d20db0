import Cryptography
public import Postgres
import Values

/// Brings a database to this binary's schema, or says how far it is from it.
public struct Migrator {
    /// Why no migration was applied.
    public enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// The schema is newer than this binary: an older binary must not touch it.
        case schemaIsNewer(schema: Int, binary: Int)
        /// The schema is of a build from before the baseline that had more steps to go.
        case schemaIsOlder(schema: Int, baseline: Int)
        /// The text of an applied migration has changed.
        case historyDiffers(version: Int)
        /// Another session has held a table that a step changes for a minute.
        case tablesAreHeld(version: Int)

        public var description: String {
            switch self {
            case .schemaIsNewer(let schema, let binary):
                "the database has schema version \(schema), this binary knows up to \(binary): "
                    + "start the release that migrated it, or a newer one"
            case .schemaIsOlder(let schema, let baseline):
                "the database has schema version \(schema), this binary begins at \(baseline): "
                    + "run `urd migrate` of build \(EarlierSteps.lastBuild) first, then of this one"
            case .historyDiffers(let version):
                "migration \(version) was applied with another text than this binary has: "
                    + "the database belongs to another build, so run that one, or one made from it"
            case .tablesAreHeld(let version):
                "migration \(version) waited a minute for a table that another session holds, and nothing of "
                    + "it was applied: end the session that pg_stat_activity shows idle in a transaction"
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
    public static let newestSchema = newest(of: Migrations.all)
    /// Makes the roles beside the owner of the schema, where the server does not have them: no dump of a database does.
    public static let roles: String = {
        let text = String(decoding: PackageResources.roles_sql, as: UTF8.self)
        let end = "end $$;"
        guard let found = text.firstRange(of: end) else {
            preconditionFailure("The baseline begins with the roles.")
        }
        return String(text[..<found.upperBound])
    }()
    /// The oldest version that this binary migrates.
    public static let firstSchema = Migrations.baseline.version

    private let connection: Connection
    private let attempts: Int
    private let steps: [Migrations.Step]

    /// - Parameters:
    ///   - connection: as the owner of the schema, or of an empty database.
    ///   - attempts: so often a step waits for a second, with another second in between.
    public init(_ connection: Connection, attempts: Int = 30) {
        self.init(connection, attempts: attempts, steps: Migrations.all)
    }

    /// - Parameter steps: the baseline and what comes after it.
    init(_ connection: Connection, attempts: Int = 30, steps: [Migrations.Step]) {
        self.connection = connection
        self.attempts = attempts
        self.steps = steps
    }

    private static func newest(of steps: [Migrations.Step]) -> Int { steps.last?.version ?? 0 }

    public func state() throws -> State {
        let applied = try applied()
        try check(applied)
        return State(
            schema: applied.keys.max() ?? 0, binary: Self.newest(of: steps),
            pending: steps.filter { applied[$0.version] == nil }
                .map { "\($0.version) \($0.name)" })
    }

    /// Applies missing migrations, step by step, each in a transaction of its own. Several processes may do so at once: each step is
    /// applied by one of them.
    /// - Returns: the names of the applied migrations.
    public func migrate() throws -> [String] {
        try begin()
        let applied = try applied()
        try check(applied)
        var done: [String] = []
        for step in steps where applied[step.version] == nil {
            if try apply(step) { done.append("\(step.version) \(step.name)") }
        }
        return done
    }

    /// The schema and the list of what was applied. Two that make them at once may trip over each other.
    private func begin() throws(Postgres.Failure) {
        func make() throws(Postgres.Failure) {
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
        }
        for _ in 0..<5 {
            do throws(Postgres.Failure) {
                return try make()
            } catch {
                guard connection.isAlive else { throw error }
            }
        }
        try make()
    }

    /// A session that reads a table holds it until its transaction ends, and all others queue behind a migration that
    /// waits for it: so it waits a second at a time, and gives up after a minute.
    /// - Returns: false where another process was faster.
    private func apply(_ step: Migrations.Step) throws -> Bool {
        var attempts = attempts
        while true {
            do throws(Postgres.Failure) {
                return try applyAtOnce(step)
            } catch {
                guard error.code == lockNotAvailable, connection.isAlive else { throw error }
                attempts -= 1
                guard attempts > 0 else { throw Refusal.tablesAreHeld(version: step.version) }
                try connection.run("select pg_sleep(1)")
            }
        }
    }

    private func applyAtOnce(_ step: Migrations.Step) throws(Postgres.Failure) -> Bool {
        try connection.transaction { connection throws(Postgres.Failure) in
            // Only its owner can lock it like this: another process that migrates.
            try connection.run("lock table urd.migration in share row exclusive mode")
            var parameters = Parameters()
            parameters.add(Int32(step.version))
            let known = try connection.executeOnce(
                "select from urd.migration where version = $1", parameters)
            guard known.isEmpty else { return false }
            try connection.run(
                "set local lock_timeout = '1s';" + String(decoding: step.sql, as: UTF8.self))
            parameters.add(step.name)
            parameters.add(bytes: SHA256.hash(step.sql))
            try connection.executeOnce(
                "insert into urd.migration (version, name, digest) values ($1, $2, $3)",
                parameters)
            return true
        }
    }

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
        guard let schema = applied.keys.max() else { return }
        let newest = Self.newest(of: steps)
        guard schema <= newest else { throw .schemaIsNewer(schema: schema, binary: newest) }
        let baseline = Migrations.baseline
        guard schema >= baseline.version else {
            throw .schemaIsOlder(schema: schema, baseline: baseline.version)
        }
        let first = applied.filter { $0.key <= baseline.version }
        guard first == [baseline.version: SHA256.hash(baseline.sql)] || EarlierSteps.made(first)
        else { throw .historyDiffers(version: baseline.version) }
        for step in steps where step.version > baseline.version {
            if let digest = applied[step.version], digest != SHA256.hash(step.sql) {
                throw .historyDiffers(version: step.version)
            }
        }
    }
}

private let lockNotAvailable = "55P03"
