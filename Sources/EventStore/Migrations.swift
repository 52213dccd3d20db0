import Cryptography

/// Every step from an empty database to this binary's schema, in order. Steps are only ever added.
enum Migrations {
    struct Step: Sendable {
        let version: Int
        let name: String
        /// The text of one file, or of several that are read in their order.
        let sql: [UInt8]
    }

    /// What an empty database begins with, one subject a file.
    static let baseline = Step(
        version: 38, name: "baseline",
        sql: Array(
            [
                PackageResources.roles_sql, PackageResources.planner_sql,
                PackageResources.log_sql, PackageResources.keys_sql,
                PackageResources.append_sql, PackageResources.append_all_sql,
                PackageResources.epochs_sql, PackageResources.tamper_sql,
                PackageResources.locks_sql, PackageResources.projections_sql,
                PackageResources.applying_sql, PackageResources.following_sql,
                PackageResources.account_ends_sql, PackageResources.webhooks_sql,
                PackageResources.signals_sql, PackageResources.signed_requests_sql,
                PackageResources.analysts_sql, PackageResources.case_files_sql,
                PackageResources.what_if_sql,
            ].joined()))

    /// Realms as of a moment. Where an earlier build made tables and functions for them, these go first.
    private static let asOfBuilds = Step(
        version: 39, name: "as_of_builds",
        sql: Array(
            [
                PackageResources.m039_as_of_builds_sql, PackageResources.as_of_builds_sql,
                PackageResources.as_of_filling_sql, PackageResources.as_of_showing_sql,
            ].joined()))

    private static let backups = Step(
        version: 40, name: "backups", sql: PackageResources.m040_backups_sql)

    /// Fewer statements for each batch. What the baseline has of these functions is replaced by it.
    private static let append = Step(
        version: 41, name: "append", sql: PackageResources.m041_append_sql)

    static let all = [baseline, asOfBuilds, backups, append]
}

/// How a database got to the baseline before there was one: in 38 steps, each with a row and a digest of its own. What
/// they made is what the baseline makes, and what step 39 replaces.
enum EarlierSteps {
    static let versions = 1...Migrations.baseline.version

    /// The last build that has them: what it migrated is taken as it is.
    static let lastBuild = "0.1.0 (b49a94b37bb0, 2026-11-30)"

    /// SHA-256 of their digests, one after the other.
    private static let digest: [UInt8] = [
        0x8b, 0xaf, 0x5b, 0x85, 0xe8, 0x98, 0x52, 0xa8,
        0x22, 0x7c, 0xef, 0x60, 0x2b, 0x32, 0x52, 0xd5,
        0xf5, 0xca, 0xc2, 0xe6, 0x42, 0x0f, 0x01, 0x4b,
        0x17, 0x58, 0x86, 0x19, 0x7b, 0x47, 0x92, 0x23,
    ]

    /// Whether exactly they were applied up to the baseline.
    static func made(_ applied: [Int: [UInt8]]) -> Bool {
        applied.count == versions.count
            && SHA256.hash(versions.flatMap { applied[$0] ?? [] }) == digest
    }
}
