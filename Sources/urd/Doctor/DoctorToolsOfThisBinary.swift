import EventStore
import Postgres
import Telemetry
import Values

extension DoctorTools {
    static let ofThisBinary = DoctorTools(
        query: { address, sql in
            do {
                return try await OwnThread.run {
                    let rows = try Connection(address, application: "urd doctor", readOnly: true)
                        .run(sql)
                    return (0..<rows.count).map { row in
                        (0..<rows.width).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) }
                    }
                }
            } catch let failure as Postgres.Failure {
                throw CommandFailure(failure.explanation ?? "\(failure)")
            }
        },
        newestSchema: Migrator.newestSchema, now: { Log.systemTime().microseconds },
        postures: { settings, realm in try await RealmPosture.read(settings, realm) })
}
