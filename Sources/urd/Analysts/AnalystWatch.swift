import JSON
import Postgres
import Telemetry

/// Ends sessions of analysts that take from all others what PostgreSQL lets every role take (`urd.end_greedy_analysts`).
/// Every node does it: more than one at once does no harm.
struct AnalystWatch: Sendable {
    /// Questions of all views together hold some hundred. The table has room for 6,400 as PostgreSQL is set up.
    static let locks = 1000
    /// A statement may take thirty.
    static let seconds = 40

    let store: Store

    func run() async throws {
        var isWatched = true
        while true {
            try Task.checkCancellation()
            do {
                let ended = try await store.database.run { connection throws(Postgres.Failure) in
                    try connection.execute(ending).int32(0, 0)
                }
                isWatched = true
                if ended > 0 {
                    store.lines.warning("analysts.ended", ["sessions": .integer(Int64(ended))])
                }
            } catch {
                try Task.checkCancellation()
                if isWatched {
                    store.lines.warning("analysts.unwatched", ["reason": .string("\(error)")])
                }
                isWatched = false
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

private let ending = Statement(
    "analysts_end",
    "select urd.end_greedy_analysts(\(AnalystWatch.locks), \(AnalystWatch.seconds))")
