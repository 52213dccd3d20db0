/// Processor time per operation, beside a plain answer and a bare commit that were measured in turns
/// with it. Rates move with the machine; this quotient moves much less.
struct Cost: Sendable {
    /// Microseconds of one round.
    struct Round: Sendable {
        let server: Double
        let database: Double
        let load: Double
        let plainAnswer: Double
        let bareCommit: Double

        var quotient: Double {
            let unit = plainAnswer + bareCommit
            return unit > 0 ? (server + database) / unit : 0
        }
    }

    let rounds: [Round]

    var server: Double { rounds.map(\.server).median }
    var database: Double { rounds.map(\.database).median }
    var load: Double { rounds.map(\.load).median }
    var plainAnswer: Double { rounds.map(\.plainAnswer).median }
    var bareCommit: Double { rounds.map(\.bareCommit).median }
    var quotient: Double { rounds.map(\.quotient).median }
    var lowest: Double { rounds.map(\.quotient).min() ?? 0 }
    var highest: Double { rounds.map(\.quotient).max() ?? 0 }
}
