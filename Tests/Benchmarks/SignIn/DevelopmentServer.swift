import EventStore
import Foundation
import Glibc
import JSON
import Values

/// `urd dev` beside this program: the server, its PostgreSQL and its inbox, as anybody has them.
final class DevelopmentServer: @unchecked Sendable {
    let values: [String: String]
    let port: UInt16
    let innerPort: UInt16
    private let serving: Program.Running
    private let folder: String

    /// - Parameters:
    ///   - number: tells those that run at the same time apart.
    ///   - program: the server, and what it is run by; nil for the one beside this program.
    init(number: Int = 0, program: [String]? = nil) async throws {
        guard let program = program ?? ServeFigures.findBinary().map({ [$0] }) else {
            throw BenchmarkFailure("There is no urd beside this program.")
        }
        folder = "/tmp/urd-bench-\(getpid())-\(number)"
        port = 18_090 + UInt16(number)
        let file = "\(folder)/dev.env"
        serving = try Program.start(
            program + ["dev"],
            environment: [
                "PATH": "/usr/bin:/bin:/usr/sbin", "URD_DATA": folder,
                "URD_PORT": String(port),
            ], log: "\(folder).log")
        let started = ContinuousClock.now
        while !FileManager.default.fileExists(atPath: file) {
            guard serving.isRunning, ContinuousClock.now - started < .seconds(180) else {
                throw BenchmarkFailure("urd dev did not start: \(Self.lastWords("\(folder).log"))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        values = Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: "=").map {
                    (String(line[..<$0]), String(line[line.index(after: $0)...]))
                }
            }, uniquingKeysWith: { $1 })
        guard let inner = values["URD_PRIVATE_URL"].flatMap({ URL(string: $0)?.port }) else {
            throw BenchmarkFailure("dev.env has no private address.")
        }
        innerPort = UInt16(inner)
    }

    /// Where the keys of its realms are wrapped.
    func masterKey() throws -> MasterKey {
        let text = try String(contentsOfFile: "\(folder)/master.key", encoding: .utf8)
        guard let bytes = Hex.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            let key = MasterKey(bytes)
        else { throw BenchmarkFailure("The master key cannot be read.") }
        return key
    }
    var id: pid_t { serving.id }

    /// Of its own PostgreSQL.
    var postmaster: pid_t? {
        let path = "\(folder)/postgres/data/postmaster.pid"
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    func end() {
        serving.end()
        try? FileManager.default.removeItem(atPath: folder)
        try? FileManager.default.removeItem(atPath: "\(folder).log")
    }

    private static func lastWords(_ log: String) -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(3).joined(separator: " ")
    }

    /// What a script is told of it.
    var valuesAsJSON: [UInt8] {
        JSON.object(JSONObject(values.map { ($0.key, .string($0.value)) })).canonical()
    }

    /// The realm's own host, and its app's.
    var requests: Requests { Requests(host: "demo.localhost:\(port)") }

    /// What asks the admin API for something.
    func administration(
        _ method: String, _ path: String, _ body: String, realm: String? = "demo"
    ) -> [UInt8] {
        let place = realm.map { "/\($0)" } ?? ""
        return Array(
            """
            \(method) /api/admin/realms\(place)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\
            Authorization: Bearer \(values["URD_ADMIN_KEY"] ?? "")\r\n\
            Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
    }

    /// Asks the admin API for something.
    func administer(
        _ method: String, _ path: String, _ body: String, realm: String? = "demo"
    ) throws -> JSON {
        let answer = try Line(port: port).send(administration(method, path, body, realm: realm))
        guard (200..<300).contains(answer.status) else {
            throw BenchmarkFailure(String(decoding: answer.body, as: UTF8.self))
        }
        return answer.json ?? .null
    }

    /// Asks its PostgreSQL for one value.
    func ask(_ question: String) throws -> String {
        let url = (values["URD_DATABASE_OWNER_URL"] ?? "")
            .replacingOccurrences(of: "//urd_owner@", with: "//postgres@")
        return try Program(["psql", "-XqAtc", question, url]).run()
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Bare one-row inserts into a table of the same PostgreSQL: what commits cost here.
    func commits(seconds: Int) throws -> Double {
        let url = (values["URD_DATABASE_OWNER_URL"] ?? "")
            .replacingOccurrences(of: "//urd_owner@", with: "//postgres@")
        try Program([
            "psql", "-Xqc", "create table if not exists bare (payload bytea)", url,
        ]).run()
        let text = try Program([
            "sh", "-c",
            "printf '%s\\n' \"$1\" | \"$2\" -n -f - -M prepared -c 32 -j 2 -T $3 \"$4\"",
            "sh", PgBench.insert, Bed.binary("pgbench"), String(seconds), url,
        ]).run()
        guard let rate = text.number(after: "tps = ") else {
            throw BenchmarkFailure("pgbench said:\n\(text)")
        }
        return rate
    }
}
