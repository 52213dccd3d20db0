import PostgresTesting

/// PostgreSQL's own load generator.
struct PgBench {
    let database: TestDatabase

    struct Result {
        let perSecond: Double
        let milliseconds: Double
    }

    private static let payload = String(repeating: "5a", count: 32)

    static let insert = "insert into bare (payload) values ('\\x\(payload)');"

    func run(_ script: String, clients: Int, seconds: Int) throws -> Result {
        let text = try Program([
            "sh", "-c",
            "printf '%s\\n' \"$1\" | \"$2\" -n -f - -M prepared -c $3 -j $4 -T $5 -h $6 -U postgres $7",
            "sh", script, Bed.binary("pgbench"), String(clients), String(min(clients, 2)),
            String(seconds), database.cluster.folder, database.name,
        ]).run()
        guard let rate = text.number(after: "tps = "),
            let latency = text.number(after: "latency average = ")
        else { throw BenchmarkFailure("pgbench said:\n\(text)") }
        return Result(perSecond: rate, milliseconds: latency)
    }

    func inserts(clients: Int, seconds: Int) throws -> Result {
        try run(Self.insert, clients: clients, seconds: seconds)
    }
}
