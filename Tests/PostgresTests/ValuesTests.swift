import Postgres
import PostgresTesting
import Testing

@Suite struct `Values that cross the wire` {
    private func connect() throws -> Connection {
        try Connection(TestCluster.shared.address("postgres", "postgres"))
    }

    @Test func `values sent to the server come back unchanged`() throws {
        let connection = try connect()
        var parameters = Parameters()
        parameters.add(true)
        parameters.add(Int16.min)
        parameters.add(Int32.max)
        parameters.add(Int64.min)
        parameters.add("é\u{1F600}'\"\\")
        parameters.add(bytes: [0, 255, 1])
        parameters.add(uuid: (1, .max))
        parameters.add(time: 1_795_228_285_123_456)
        parameters.add(json: Array(#"{"a":1}"#.utf8))
        let rows = try connection.executeOnce(
            "select $1, $2, $3, $4, $5, $6, $7, $8, $9", parameters)
        #expect(rows.bool(0, 0))
        #expect(rows.int16(0, 1) == .min)
        #expect(rows.int32(0, 2) == .max)
        #expect(rows.int64(0, 3) == .min)
        #expect(rows.text(0, 4) == "é\u{1F600}'\"\\")
        #expect(rows.bytes(0, 5) == [0, 255, 1])
        #expect(rows.uuid(0, 6) == (1, .max))
        #expect(rows.time(0, 7) == 1_795_228_285_123_456)
        #expect(rows.text(0, 8) == #"{"a":1}"#)
    }

    @Test func `values sent to the server may be null or empty, which differ`() throws {
        var parameters = Parameters()
        parameters.add(nil as String?)
        parameters.add("")
        parameters.add(bytes: nil)
        parameters.add(bytes: [])
        let rows = try connect().executeOnce("select $1, $2, $3, $4", parameters)
        #expect(rows.isNull(0, 0) && !rows.isNull(0, 1))
        #expect(rows.isNull(0, 2) && !rows.isNull(0, 3))
        #expect(rows.text(0, 1) == "" && rows.bytes(0, 3) == [])
    }

    @Test func `values sent to the server may be arrays, also empty ones and ones with nulls`()
        throws
    {
        var texts = ArrayParameter(of: .text)
        texts.append("a")
        texts.appendNull()
        texts.append("")
        var parameters = Parameters()
        parameters.add(texts)
        parameters.add(ArrayParameter(of: .uuid))
        let rows = try connect().executeOnce(
            "select $1, $2, cardinality($1), cardinality($2)", parameters)
        #expect(rows.array(0, 0) == [Array("a".utf8), nil, []])
        #expect(rows.array(0, 1) == [])
        #expect(rows.int32(0, 2) == 3 && rows.int32(0, 3) == 0)
    }
}

@Suite struct `A transaction` {
    @Test func `a transaction that fails leaves nothing behind`() throws {
        let database = try TestCluster.shared.makeDatabase(migrated: false)
        let connection = try Connection(database.superuser)
        try connection.run("create table t (n integer primary key)")
        #expect(throws: Failure.self) {
            try connection.transaction { connection throws(Failure) in
                try connection.run("insert into t values (1)")
                try connection.run("insert into t values (1)")
            }
        }
        #expect(try connection.run("select from t").count == 0)
        try connection.transaction { connection throws(Failure) in
            try connection.run("insert into t values (2)")
        }
        #expect(try connection.run("select from t").count == 1)
    }
}

@Suite struct `The pool` {
    @Test func `the pool refuses more waiters than its limit`() async throws {
        let pool = Database(
            TestCluster.shared.address("postgres", "postgres"), connections: 1, limit: 2)
        defer { pool.close() }
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        try await pool.run { connection throws(Failure) in
                            _ = try connection.run("select pg_sleep(0.05)")
                        }
                        return true
                    } catch {
                        return !(error is Database.Busy)
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(outcomes.contains(true) && outcomes.contains(false))
    }

    @Test func `the pool replaces a connection that the server ended meanwhile`() async throws {
        let pool = Database(
            TestCluster.shared.address("postgres", "postgres"), connections: 1)
        defer { pool.close() }
        let first = try await pool.run { connection throws(Failure) in connection.serverProcess }
        try Connection(TestCluster.shared.address("postgres", "postgres"))
            .run("select pg_terminate_backend(\(first))")
        // The farewell may still be under way: then the work fails once and no more.
        _ = try? await pool.run { connection throws(Failure) in _ = try connection.run("select 1") }
        let second = try await pool.run { connection throws(Failure) in
            _ = try connection.run("select 1")
            return connection.serverProcess
        }
        #expect(first != second)
        #expect(pool.isReachable)
    }

    @Test func `the pool reports an unreachable server and recovers with it`() async throws {
        let pool = Database("host=/nowhere user=nobody", connections: 1)
        defer { pool.close() }
        await #expect(throws: Failure.self) {
            try await pool.run { connection throws(Failure) in _ = try connection.run("select 1") }
        }
        #expect(!pool.isReachable)
    }
}
