import Postgres
import PostgresTesting
import Testing

@Suite struct `The reason of a failed connection` {
    private func explanation(_ address: String) throws -> String {
        let failure = try #require(throws: Failure.self) { _ = try Connection(address) }
        #expect(failure.description == "the database cannot be reached")
        return try #require(failure.explanation)
    }

    @Test func `a failed connection's reason is PostgreSQL's message`() throws {
        let cluster = TestCluster.shared
        #expect(
            try explanation(cluster.address("postgres", "nobody"))
                .hasSuffix("FATAL:  role \"nobody\" does not exist"))
        #expect(
            try explanation(cluster.address("nothing", "postgres"))
                .hasSuffix("FATAL:  database \"nothing\" does not exist"))
        #expect(
            try explanation("postgresql://urd:secret@127.0.0.1:1/urd").hasPrefix(
                "connection to server at \"127.0.0.1\", port 1 failed: Connection refused"))
    }

    @Test(arguments: [
        "postgresql://u:hunter2@127.0.0.1:1/urd", "postgresql://u:hunter2/x@127.0.0.1:1/urd",
        "postgresql://u:x/hunter2@127.0.0.1:1/urd", "postgresql://u:5/hunter2@127.0.0.1:1/urd",
        "postgresql://u:x@hunter2@127.0.0.1:1/urd", "postgresql://u:x@hunter2/y@127.0.0.1:1/urd",
        "postgresql://u:x@hunter2:y@127.0.0.1:1/urd", "postgresql://u:x@/hunter2@127.0.0.1:1/urd",
        "postgresql://u:hunter2%zz@127.0.0.1:1/urd", "postgresql://u:x?hunter2@127.0.0.1:1/urd",
        "postgresql://u:x/y?hunter2@127.0.0.1:1/urd", "postgresql://u:x#/hunter2@127.0.0.1:1/urd",
        "postgress://u:hunter2@127.0.0.1:1/urd", "hunter2", "not a hunter2",
        "host=127.0.0.1 port=1 password=x hunter2", "host=127.0.0.1 port=1 hunter2=x",
        "host=127.0.0.1 port=1 password=hunter2", "host=127.0.0.1 port=hunter2",
        "postgresql://u:hunter2", "postgresql://u:hunter2/urd",
    ])
    func `a failed connection's reason never shows a password or a part of one`(_ address: String)
        throws
    {
        let told = try explanation(address)
        #expect(!told.contains("hunter"), "\(told)")
        #expect(!told.isEmpty)
    }
}
