import EventStore

/// What the composition root lends to the doctor: a way to ask the database, and what it knows.
struct DoctorTools: Sendable {
    /// Runs one query without parameters at an address, and gives its rows as text.
    let query: @Sendable (_ address: String, _ sql: String) async throws -> [[String?]]
    /// The schema's version that this binary is made for.
    let newestSchema: Int
    /// Now, in microseconds since 1970.
    let now: @Sendable () -> Int64
    /// Why this binary and the schema's history do not go together. Nil: the versions fit.
    var refusal: @Sendable (_ address: String) async throws -> String? = { _ in nil }
    /// Lets time pass between two looks.
    var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    /// Tries a write, to a temporary table.
    var write: @Sendable (_ address: String) async -> WriteTrial = { _ in .done }
    /// What the realms' keys and logs are like. Nil without a check.
    var realms: @Sendable (Settings) async throws -> RealmsReport? = { _ in nil }
    /// What was chosen for the realms, or for the one of this name.
    var postures: @Sendable (Settings, _ realm: String?) async throws -> [RealmPosture] = { _, _ in
        []
    }
    /// Why a client hears of a token that it is active, or not.
    var introspection: @Sendable (Settings, IntrospectionQuestion) async throws -> Diagnosis? = {
        _, _ in nil
    }
}

/// What can only be seen in the database, asked as the application's role.
struct DatabaseChecks: Sendable {
    let tools: DoctorTools
    let address: String

    func all(connections: Int) async -> [Diagnosis] {
        let facts: [String: String]
        do {
            facts = try await look()
        } catch {
            return [
                .wrong(
                    "database", "cannot be reached: \(error)",
                    mend: "See that PostgreSQL runs, and that database-url names its host, port, "
                        + "database and role.")
            ]
        }
        return [
            server(facts), role(facts), history(facts), durability(facts), await build(facts),
            clocks(facts), timeZone(facts), room(facts, connections: connections),
        ]
            + [
                await locks(facts), await writes(facts), await readModels(facts),
                await mails(facts),
                await webhooks(facts), await feedCursors(facts), await signals(facts),
                await leases(facts), await seals(facts), await analysts(facts),
                await backups(facts),
            ].compactMap(\.self)
    }

    /// One row of everything, so that a slow network is crossed once. Privileges are asked only of
    /// a table that is there.
    func look() async throws -> [String: String] {
        let questions = [
            ("version", "current_setting('server_version_num')"),
            ("recovery", "pg_is_in_recovery()::text"),
            ("role", "current_user::text"),
            ("super", "(select r.rolsuper::text from pg_roles r where r.rolname = current_user)"),
            ("fsync", "current_setting('fsync')"),
            ("pages", "current_setting('full_page_writes')"),
            ("commit", "current_setting('synchronous_commit')"),
            ("zone", "current_setting('TimeZone')"),
            ("room", "current_setting('max_connections')"),
            ("now", DatabaseClock.question),
            ("log", "coalesce(to_regclass('urd.event')::text, '')"),
            ("migrations", "coalesce(to_regclass('urd.migration')::text, '')"),
        ]
        let rows = try await tools.query(
            address, "select " + questions.map(\.1).joined(separator: ", "))
        var facts: [String: String] = [:]
        for (question, answer) in zip(questions, rows.first ?? []) { facts[question.0] = answer }
        if facts["log"]?.isEmpty == false {
            let may = try await tools.query(
                address,
                "select has_table_privilege('urd.event', 'UPDATE')::text, "
                    + "has_table_privilege('urd.event', 'DELETE')::text, "
                    + "has_table_privilege('urd.event', 'TRUNCATE')::text")
            facts["rewrites"] = may.first?.contains("true") == true ? "true" : "false"
            let latest = try? await tools.query(address, Self.latestEvent)
            (facts["latest"], facts["latest_realm"]) = (
                latest?.first?.first ?? nil, latest?.first?.last ?? nil
            )
        }
        if facts["migrations"]?.isEmpty == false {
            let rows = try? await tools.query(
                address, "select max(version)::text from urd.migration")
            facts["schema"] = rows?.first?.first ?? nil
        }
        return facts
    }
}

// MARK: - The checks

extension DatabaseChecks {
    func server(_ facts: [String: String]) -> Diagnosis {
        let check = "database"
        let version = facts["version"].flatMap { Int($0) } ?? 0
        if version < 150_000 {
            return .wrong(
                check, "PostgreSQL \(version / 10_000) is too old", mend: "Use 15 or newer.")
        }
        if facts["recovery"] == "true" {
            return .wrong(
                check, "it is a replica and takes no writes",
                mend: "Let database-url name the primary (target_session_attrs=read-write).")
        }
        return .fine(check, "PostgreSQL \(version / 10_000)")
    }

    func role(_ facts: [String: String]) -> Diagnosis {
        let check = "role"
        let role = facts["role"] ?? "?"
        if facts["super"] == "true" {
            return .wrong(
                check, "\(role) is a superuser, from whom nothing protects the log",
                mend: "Connect as urd_app; only migrations need the owner (database-owner-url).")
        }
        return .fine(check, role)
    }

    func history(_ facts: [String: String]) -> Diagnosis {
        let check = "history"
        switch facts["rewrites"] {
        case "true":
            return .wrong(
                check, "this role may change or remove events",
                mend: "revoke update, delete, truncate on urd.event from \(facts["role"] ?? "it")")
        case "false": return .fine(check, "this role can only add to it")
        default: return .warning(check, "there is no log yet", mend: "Run: urd migrate")
        }
    }

    func durability(_ facts: [String: String]) -> Diagnosis {
        let check = "durability"
        for (name, fact) in [("fsync", "fsync"), ("full_page_writes", "pages")]
        where facts[fact] != "on" {
            return .wrong(
                check, "\(name) is off: a crash can lose or break what was acknowledged",
                mend: "alter system set \(name) = on; select pg_reload_conf();")
        }
        if facts["commit"] == "off" {
            return .wrong(
                check, "synchronous_commit is off: a crash loses what was acknowledged",
                mend: "alter role \(facts["role"] ?? "urd_app") set synchronous_commit = on;")
        }
        return .fine(check, "a commit is on the disk")
    }

    func schema(_ facts: [String: String]) -> Diagnosis {
        let check = "schema"
        guard facts["migrations"]?.isEmpty == false else {
            return .wrong(check, "there is none", mend: "Run: urd migrate")
        }
        guard let version = facts["schema"].flatMap({ Int($0) }) else {
            return .wrong(check, "its version cannot be read", mend: "Run: urd migrate --check")
        }
        if version < tools.newestSchema {
            return .wrong(
                check, "version \(version), this program needs \(tools.newestSchema)",
                mend: "Run: urd migrate")
        }
        if version > tools.newestSchema {
            return .wrong(
                check, "version \(version) is newer than this program (\(tools.newestSchema))",
                mend: "Run the newer urd; never an older one on newer data.")
        }
        return .fine(check, "version \(version)")
    }

    func timeZone(_ facts: [String: String]) -> Diagnosis {
        let zone = facts["zone"] ?? "?"
        if ["UTC", "Etc/UTC", "GMT", "Etc/GMT"].contains(zone) { return .fine("time zone", zone) }
        return .warning(
            "time zone", "sessions count days in \(zone)",
            mend: "alter role \(facts["role"] ?? "urd_app") set timezone = 'UTC';")
    }

    func room(_ facts: [String: String], connections: Int) -> Diagnosis {
        let check = "connections"
        let room = facts["room"].flatMap { Int($0) } ?? 0
        // The committer, the projections, the sealer and the poll have connections of their own.
        let needed = connections + 8
        if needed > room {
            return .wrong(
                check, "the server allows \(room), we may need \(needed)",
                mend: "Raise max_connections of PostgreSQL, or lower database-connections.")
        }
        return .fine(check, "the server allows \(room), we may need \(needed)")
    }
}
