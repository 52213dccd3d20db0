import Postgres
import PostgresTesting
import Testing

/// What a damaged table gives: a null where the program expects a number or an id.
@Suite struct `A column without its value` {
    private let address = TestCluster.shared.address("postgres", "postgres")

    private static let reads: [(String, @Sendable (Rows) -> Void)] = [
        ("int2", { _ = $0.int16(0, 0) }), ("int4", { _ = $0.int32(0, 0) }),
        ("int8", { _ = $0.int64(0, 0) }), ("timestamptz", { _ = $0.time(0, 0) }),
        ("uuid", { _ = $0.uuid(0, 0) }),
    ]

    @Test func `a null is refused as damage with the column's name, and the next work goes on`()
        async throws
    {
        let database = Database(address, connections: 1)
        defer { database.close() }
        for (type, read) in Self.reads {
            let statement = Statement("null_\(type)", "select null::\(type) as \"at\"")
            do {
                try await database.run { connection throws(Failure) in
                    read(try connection.execute(statement))
                }
                Issue.record("a null \(type) was read")
            } catch let failure as Failure {
                #expect(failure.damage == "there is no value in at of null_\(type)")
                #expect(!failure.isTransient && !failure.isConnectionLost)
            }
            let one = try await database.run { connection throws(Failure) in
                try connection.executeOnce("select 1::int8", Parameters()).int64(0, 0)
            }
            #expect(one == 1)
        }
    }

    @Test func `a transaction that read a null is rolled back`() throws {
        let connection = try Connection(address)
        try connection.run("create temporary table kept (a int8)")
        for isLast in [true, false] {
            #expect(throws: Failure.self) {
                try connection.transaction { connection throws(Failure) in
                    try connection.run("insert into kept values (1)")
                    let rows = try connection.executeOnce("select null::int8", Parameters())
                    _ = rows.int64(0, 0)
                    if !isLast { try connection.run("insert into kept values (2)") }
                }
            }
        }
        #expect(try connection.run("select from kept").isEmpty)
    }
}
