import Postgres
import PostgresTesting
import Testing

@Suite struct `Pipelined statements` {
    private static let adding = Statement(
        "adding", "insert into t values ($1) returning n + 100")

    private func connect() throws -> Connection {
        let database = try TestCluster.shared.makeDatabase(migrated: false)
        let connection = try Connection(database.superuser)
        try connection.run("create table t (n integer primary key)")
        try connection.prepare(Self.adding, parameters(0))
        return connection
    }

    private func parameters(_ number: Int32) -> Parameters {
        var parameters = Parameters()
        parameters.add(number)
        return parameters
    }

    @Test func `pipelined statements are answered and committed in their order`() throws {
        let connection = try connect()
        try connection.send(Self.adding, parameters(1))
        for number in 2...50 as ClosedRange<Int32> {
            #expect(try connection.receive().int32(0, 0) == number + 99)
            try connection.send(Self.adding, parameters(number))
            try connection.receiveCommit()
        }
        #expect(try connection.receive().int32(0, 0) == 150)
        try connection.receiveCommit()
        #expect(try connection.run("select from t").count == 50)
    }

    @Test func `pipelined statements fail one by one, each in its own transaction`() throws {
        let connection = try connect()
        try connection.run("insert into t values (1)")
        try connection.send(Self.adding, parameters(1))
        try connection.send(Self.adding, parameters(2))
        #expect(throws: Failure.self) { _ = try connection.receive() }
        try connection.receiveCommit()
        #expect(try connection.receive().int32(0, 0) == 102)
        try connection.receiveCommit()
        #expect(try connection.run("select from t").count == 2)
    }

    @Test func `pipelined statements report a commit that fails`() throws {
        let connection = try connect()
        try connection.run(
            """
            create function refuse() returns trigger language plpgsql as
                $$ begin raise exception using errcode = 'XX000'; end $$;
            create constraint trigger refuse after insert on t deferrable initially deferred
                for each row when (new.n = 1) execute function refuse()
            """)
        try connection.send(Self.adding, parameters(1))
        #expect(try connection.receive().int32(0, 0) == 101)
        try connection.send(Self.adding, parameters(2))
        #expect { try connection.receiveCommit() } throws: { ($0 as? Failure)?.code == "XX000" }
        #expect(try connection.receive().int32(0, 0) == 102)
        try connection.receiveCommit()
        #expect(try connection.run("select from t").count == 1)
    }

    @Test func `pipelined statements free their slot when all are done`() throws {
        let connection = try connect()
        for number in 1...3 as ClosedRange<Int32> {
            try connection.send(Self.adding, parameters(number))
            _ = try connection.receive()
            try connection.receiveCommit()
            #expect(try connection.run("select from t").count == Int(number))
        }
        // While one is under way nothing else can be asked.
        try connection.send(Self.adding, parameters(4))
        #expect(throws: Failure.self) { try connection.run("select 1") }
    }

    @Test func `pipelined statements fail with their connection`() throws {
        let connection = try connect()
        let process = connection.serverProcess
        let killer = try Connection(TestCluster.shared.address("postgres", "postgres"))
        try connection.send(Self.adding, parameters(1))
        _ = try connection.receive()
        try connection.receiveCommit()
        try killer.run("select pg_terminate_backend(\(process), 5000)")
        #expect {
            try connection.send(Self.adding, parameters(2))
            _ = try connection.receive()
        } throws: {
            ($0 as? Failure)?.isConnectionLost == true
        }
        #expect(!connection.isStillThere())
    }

    @Test func `pipelined statements fail when the connection ends during the commit`() throws {
        for _ in 0..<20 {
            let connection = try connect()
            try connection.run(
                """
                create function die() returns trigger language plpgsql as $$ begin
                    perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10);
                end $$;
                create constraint trigger die after insert on t deferrable initially deferred
                    for each row execute function die()
                """)
            try connection.send(Self.adding, parameters(1))
            _ = try connection.receive()
            try connection.send(Self.adding, parameters(2))
            #expect {
                try connection.receiveCommit()
            } throws: {
                ($0 as? Failure)?.isConnectionLost == true
            }
        }
    }
}
