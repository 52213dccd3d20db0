import EventStore
import Postgres
import Telemetry
import Threads
import Values

extension DoctorTools {
    static let ofThisBinary = DoctorTools(
        query: { address, sql in
            do {
                return try await DedicatedThread.run {
                    let connection = try Connection(
                        address, application: "urd doctor", readOnly: true)
                    // It finds who locks what, and does not wait for them.
                    try connection.run("set lock_timeout = '2s'")
                    let rows = try connection.run(sql)
                    return (0..<rows.count).map { row in
                        (0..<rows.width).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) }
                    }
                }
            } catch let failure as Postgres.Failure {
                throw CommandFailure(failure.explanation ?? "\(failure)")
            }
        },
        newestSchema: Migrator.newestSchema, now: { Log.systemTime().microseconds },
        refusal: { address in
            do {
                return try await DedicatedThread.run {
                    _ = try Migrator(
                        Connection(address, application: "urd doctor", readOnly: true)
                    ).state()
                    return nil
                }
            } catch let refusal as Migrator.Refusal {
                return refusal.description
            }
        },
        write: { address in
            do {
                return try await DedicatedThread.run { try tryToWrite(address) }
            } catch {
                return .refused("\(error)")
            }
        },
        realms: { settings in try await RealmsReport.read(settings) },
        postures: { settings, realm in try await RealmPosture.read(settings, realm) },
        introspection: { settings, question in try await question.answer(settings) })

    /// A full disk may still have room in the pages that there are: a table of its own needs new ones.
    private static func tryToWrite(_ address: String) throws -> WriteTrial {
        do throws(Postgres.Failure) {
            try Connection(address, application: "urd doctor").run(
                """
                begin;
                create temporary table urd_doctor (filler text) on commit drop;
                insert into urd_doctor select repeat('x', 1000) from generate_series(1, 1000);
                rollback
                """)
            return .done
        } catch {
            if error.isDiskFull { return .diskFull }
            if error.code == "42501" { return tryToSpill(address) }
            return .refused(error.explanation ?? "\(error)")
        }
    }

    /// For a role that makes no temporary tables: what a function returns needs a file of its own.
    private static func tryToSpill(_ address: String) -> WriteTrial {
        do throws(Postgres.Failure) {
            try Connection(address, application: "urd doctor").run(DiskTrial.script)
            return .forbidden
        } catch {
            return error.isDiskFull ? .diskFull : .forbidden
        }
    }
}
