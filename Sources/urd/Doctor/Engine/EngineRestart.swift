import JSON
import Postgres

/// What was acknowledged before a restart or a failover, as the operator keeps it in a file.
struct EngineRestart: Sendable {
    static let rows = 1000

    let schema: String
    let acknowledged: Int
    let history: String

    init(_ file: String) throws {
        guard let noted = try? JSON.parse(Array(try File.text(file).utf8)),
            let schema = noted["schema"]?.string, Self.isOurs(schema),
            let acknowledged = noted["acknowledged"]?.integer,
            let history = noted["history"]?.string
        else {
            throw CommandFailure(
                "\(file) is not what --before-restart wrote",
                remedy: "Run: urd doctor engine URL --before-restart \(file)")
        }
        (self.schema, self.acknowledged, self.history) = (schema, Int(acknowledged), history)
    }

    init(schema: String, acknowledged: Int, history: String) {
        (self.schema, self.acknowledged, self.history) = (schema, acknowledged, history)
    }

    /// It becomes part of a statement.
    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("urd_engine_") && name.utf8.count < 40
            && name.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    var json: JSON {
        [
            "schema": .string(schema), "acknowledged": .integer(Int64(acknowledged)),
            "history": .string(history),
        ]
    }

    static let question = """
        select (select system_identifier::text from pg_control_system()) || '/'
            || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
        """

    func findings(_ address: String) async throws -> Findings {
        let schema = schema
        let found: (kept: Int, history: String)
        do {
            found = try await EngineTrial(address: address).work { connection in
                let kept = try connection.run("select count(*)::text from \(schema).kept")
                let history = try connection.run(Self.question)
                try connection.run("drop schema \(schema) cascade")
                return (Int(kept.text(0, 0)) ?? 0, history.text(0, 0))
            }
        } catch let failure as Postgres.Failure where failure.code == "42P01" {
            return Findings(all: [lost(all: acknowledged)])
        } catch {
            return Findings(all: [.unreachable(error)])
        }
        let moved = found.history != history
        return Findings(all: [
            found.kept < acknowledged
                ? lost(all: acknowledged - found.kept)
                : .fine("durability", "\(acknowledged) acknowledged, none lost"),
            .fine(
                "failover",
                moved
                    ? "told by its history: \(history) before, \(found.history) now"
                    : "there was none: the history is the same, \(history)"),
        ])
    }

    private func lost(all count: Int) -> Diagnosis {
        .wrong(
            "durability", "\(count) of \(acknowledged) acknowledged rows are lost",
            mend: "Commits must be on the disk (fsync), and on a standby before one is promoted "
                + "(synchronous_standby_names).")
    }
}

extension EngineTrial {
    /// Row by row, each acknowledged by itself.
    func leaveRows(_ file: String) async -> Findings {
        let schema = schema
        do {
            let history = try await work { connection in
                try connection.run(
                    "create schema \(schema); create table \(schema).kept (number int primary key)")
                for number in 1...EngineRestart.rows {
                    _ = try connection.run("insert into \(schema).kept values (\(number))")
                }
                return try connection.run(EngineRestart.question).text(0, 0)
            }
            let noted = EngineRestart(
                schema: schema, acknowledged: EngineRestart.rows, history: history)
            try File.writeAtomically(noted.json.canonical() + [0x0A], to: file, mode: 0o600)
        } catch {
            // Rows that no file names would be in the way for ever.
            await dropSchema()
            return Findings(all: [
                .wrong(
                    "rows", "could not be left behind: \(error)",
                    mend:
                        "See that the role may make schemas there, and that the file can be written."
                )
            ])
        }
        return Findings(all: [
            .fine(
                "rows",
                "\(EngineRestart.rows) acknowledged; kill the server or fail over, then: "
                    + "urd doctor engine URL --after-restart \(file)")
        ])
    }
}
