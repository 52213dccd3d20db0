import EventSourcing
import EventStore
import Foundation
import HTTP
import Identity
import JSON
import Postgres
import Telemetry
import Values

/// A server with a long log that analysts ask, and a way to its log beside it, as from another node.
struct AnalystServer: Sendable {
    let server: DevelopmentServer
    let database: Database
    let log: PostgresLog
    let realm: RealmID

    init(_ server: DevelopmentServer) throws {
        guard let realm = RealmID("demo") else { throw BenchmarkFailure("There is no realm.") }
        self.server = server
        self.realm = realm
        database = Database(server.values["URD_DATABASE_URL"] ?? "", session: PostgresLog.session)
        log = PostgresLog(database, keyring: Keyring(database, master: try server.masterKey()))
    }

    func end() {
        log.close()
        database.close()
        server.end()
    }

    static let place = "/api/admin/realms/demo"

    func get(_ path: String) -> [UInt8] {
        Array(
            """
            GET \(Self.place)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\
            Authorization: Bearer \(server.values["URD_ADMIN_KEY"] ?? "")\r\n\r\n
            """.utf8)
    }

    /// Milliseconds of each answer, one after the other on one connection.
    func times(_ paths: [String]) throws -> [Double] {
        let line = try Line(port: server.port)
        return try paths.map { path in
            let request = get(path)
            let begun = ContinuousClock.now
            let answer = try line.send(request)
            guard answer.status == 200 else { throw answer.failure }
            return (ContinuousClock.now - begun) / .milliseconds(1)
        }
    }

    /// Downloads an answer of any length by curl.
    func download(_ path: String, to file: String) throws {
        try Program([
            "curl", "--silent", "--show-error", "--fail", "--output", file, "--header",
            "Authorization: Bearer \(server.values["URD_ADMIN_KEY"] ?? "")",
            "http://127.0.0.1:\(server.port)\(Self.place)\(path)",
        ]).run()
    }

    func connection() throws -> Connection {
        try Connection(server.values["URD_DATABASE_URL"] ?? "")
    }

    func head() async throws -> Int64 { try await log.head(of: realm).position }

    /// Until every read model is where the log is.
    func follow() async throws {
        let behind = """
            select count(*) from urd.projection_build b
            join urd.projection_position p on p.projection = b.projection and p.build = b.build
            join urd.realm_log l on l.realm = p.realm
            where b.status = 'live' and not b.inline and p.realm = 'demo'
                and p.position < l.position
            """
        while try server.ask(behind) != "0" { try await Task.sleep(for: .milliseconds(100)) }
    }

    func accounts(_ count: Int) throws -> [String] {
        try server.ask(
            """
            select string_agg(account::text, ' ') from (
                select account from urd.accounts where realm = 'demo'
                order by md5(account::text) limit \(count)) a
            """
        ).split(separator: " ").map(String.init)
    }

    func append(
        _ actor: String = "benchmark", reads: [Values.UUID: Int],
        _ decide: (inout Decision) -> Void
    ) async throws {
        var decision = Decision()
        decide(&decision)
        let now = Log.systemTime()
        var random = SystemRandomNumberGenerator()
        let outcome = try await log.append(
            Commit(
                realm: realm, command: .v7(at: now, using: &random),
                origin: Origin(actor: actor, at: now), reads: reads, events: decision.events))
        guard case .won = outcome else { throw BenchmarkFailure("a command did not win") }
    }
}
