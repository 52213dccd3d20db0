import JSON
import Postgres
import Telemetry
import Values

/// How far the database's clock is from ours: identifiers and expiries are made of both.
enum Clocks {
    /// The database's, in microseconds since 1970.
    static let question = "(extract(epoch from clock_timestamp()) * 1000000)::bigint::text"

    /// In milliseconds, where it is too much to be the network's way.
    static func difference(_ there: Int64, _ here: Int64) -> Int64? {
        let (difference, _) = there.subtractingReportingOverflow(here)
        let milliseconds = Int64(clamping: difference.magnitude / 1000)
        return milliseconds > 2000 ? milliseconds : nil
    }
}

extension Store {
    /// Said once, at the start; the doctor says it whenever he is asked, and how to mend it.
    func compareClocks() async {
        let there = try? await database.run { connection throws(Postgres.Failure) in
            Int64(try connection.run("select " + Clocks.question).text(0, 0))
        }
        guard let there = there ?? nil,
            let milliseconds = Clocks.difference(there, Log.systemTime().microseconds)
        else { return }
        lines.warning("clock.differs", ["milliseconds": .integer(milliseconds)])
    }
}
