/// Every step from an empty database to this binary's schema, in order. Steps are only ever added.
enum Migrations {
    struct Step: Sendable {
        let version: Int
        let name: String
        let sql: [UInt8]
    }

    static let all: [Step] = [
        Step(version: 1, name: "event_log", sql: PackageResources.m001_event_log_sql),
        Step(version: 2, name: "append", sql: PackageResources.m002_append_sql),
        Step(version: 3, name: "keys", sql: PackageResources.m003_keys_sql),
        Step(version: 4, name: "projections", sql: PackageResources.m004_projections_sql),
        Step(version: 5, name: "tamper", sql: PackageResources.m005_tamper_sql),
        Step(version: 6, name: "housekeeping", sql: PackageResources.m006_housekeeping_sql),
        Step(version: 7, name: "expiring_claims", sql: PackageResources.m007_expiring_claims_sql),
        Step(version: 8, name: "taught_planner", sql: PackageResources.m008_taught_planner_sql),
        Step(version: 9, name: "following", sql: PackageResources.m009_following_sql),
        Step(version: 10, name: "append_all", sql: PackageResources.m010_append_all_sql),
        Step(
            version: 11, name: "log_not_vacuumed",
            sql: PackageResources.m011_log_not_vacuumed_sql),
        Step(
            version: 12, name: "append_checks_keys",
            sql: PackageResources.m012_append_checks_keys_sql),
        Step(
            version: 13, name: "epochs_of_timelines",
            sql: PackageResources.m013_epochs_of_timelines_sql),
        Step(version: 14, name: "lost_tails", sql: PackageResources.m014_lost_tails_sql),
        Step(
            version: 15, name: "derive_versions",
            sql: PackageResources.m015_derive_versions_sql),
        Step(version: 16, name: "epoch_starts", sql: PackageResources.m016_epoch_starts_sql),
        Step(
            version: 17, name: "observer_without_events",
            sql: PackageResources.m017_observer_without_events_sql),
        Step(
            version: 18, name: "webhook_delivery",
            sql: PackageResources.m018_webhook_delivery_sql),
        Step(
            version: 19, name: "signal_delivery",
            sql: PackageResources.m019_signal_delivery_sql),
        Step(version: 20, name: "feed_cursors", sql: PackageResources.m020_feed_cursors_sql),
        Step(
            version: 21, name: "resumed_subscriptions",
            sql: PackageResources.m021_resumed_subscriptions_sql),
        Step(
            version: 22, name: "request_sequences",
            sql: PackageResources.m022_request_sequences_sql),
        Step(version: 23, name: "analysts", sql: PackageResources.m023_analysts_sql),
        Step(version: 24, name: "case_files", sql: PackageResources.m024_case_files_sql),
        Step(version: 25, name: "what_if", sql: PackageResources.m025_what_if_sql),
        Step(version: 26, name: "as_of_builds", sql: PackageResources.m026_as_of_builds_sql),
        Step(version: 27, name: "as_of_steps", sql: PackageResources.m027_as_of_steps_sql),
        Step(
            version: 28, name: "as_of_credentials",
            sql: PackageResources.m028_as_of_credentials_sql),
        Step(version: 29, name: "lost_epochs", sql: PackageResources.m029_lost_epochs_sql),
        Step(version: 30, name: "as_of_views", sql: PackageResources.m030_as_of_views_sql),
        Step(
            version: 31, name: "request_sequences_at_once",
            sql: PackageResources.m031_request_sequences_at_once_sql),
        Step(
            version: 32, name: "attempts_by_time",
            sql: PackageResources.m032_attempts_by_time_sql),
        Step(version: 33, name: "noted_erasures", sql: PackageResources.m033_noted_erasures_sql),
        Step(
            version: 34, name: "leases_and_locks",
            sql: PackageResources.m034_leases_and_locks_sql),
        Step(version: 35, name: "analyst_fences", sql: PackageResources.m035_analyst_fences_sql),
        Step(
            version: 36, name: "untimed_requests",
            sql: PackageResources.m036_untimed_requests_sql),
        Step(version: 37, name: "analyst_bounds", sql: PackageResources.m037_analyst_bounds_sql),
        Step(version: 38, name: "lost_positions", sql: PackageResources.m038_lost_positions_sql),
    ]

    static var newest: Int { all.last?.version ?? 0 }
}
