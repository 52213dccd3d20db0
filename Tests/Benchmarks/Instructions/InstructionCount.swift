import Foundation
import Glibc

/// Counts what each operation takes: instructions of a server that callgrind runs, and of a second one that
/// runs free, processor time and bytes of write-ahead log. `Tests/cost.py` makes the table of it.
struct InstructionCount {
    let options: Options
    let folder: String

    /// What went by while something was done so often.
    private struct Span {
        let count: Int
        let seconds: Double
        /// Instructions, or nanoseconds where they are not counted.
        let server: Double
        /// In nanoseconds.
        let database: Double
        /// In bytes.
        let log: Double

        var json: String {
            """
            {"count": \(count), "seconds": \(seconds), "server": \(server), \
            "database": \(database), "log": \(log)}
            """
        }
    }

    /// Begins to count, and gives what ends it, under the name of what was counted.
    private typealias Meter = (DevelopmentServer) throws -> ((String) throws -> Double)

    func run() async throws {
        guard let binary = options.urd ?? ServeFigures.findBinary() else {
            throw BenchmarkFailure("There is no urd beside this program.")
        }
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let operations = Operation.all.filter {
            options.only.isEmpty || options.only.contains($0.name)
        }
        let callgrind = Callgrind(folder: folder)
        let counts = try await measure(
            operations, callgrind.command + [try callgrind.strip(binary)], repeats: 1
        ) { server in
            try callgrind.begin(server.id)
            return { try callgrind.end(server.id, $0) }
        }
        let times = try await measure(operations, [binary], repeats: 8) { server in
            let before = Self.nanoseconds(of: server.id)
            return { _ in Self.nanoseconds(of: server.id) - before }
        }
        let rows = (["idle"] + operations.map(\.name)).map { name in
            """
            {"name": "\(name)", "instructions": \(counts[name]?.json ?? "null"), \
            "times": \(times[name]?.json ?? "null")}
            """
        }
        let text = "[\n" + rows.joined(separator: ",\n") + "\n]\n"
        try text.write(toFile: "\(folder)/counts.json", atomically: true, encoding: .utf8)
    }

    private func measure(
        _ operations: [Operation], _ program: [String], repeats: Int, _ meter: Meter
    ) async throws -> [String: Span] {
        let server = try await SignInFigures.open(0, program)
        defer { server.end() }
        // A checkpoint makes the pages that are written next go into the log whole.
        _ = try server.ask("alter system set checkpoint_timeout = '1h'")
        _ = try server.ask("select pg_reload_conf()")
        var spans: [String: Span] = [:]
        for operation in operations {
            let ready = try await operation.prepare(server)
            _ = try await ready(max(1, operation.times * repeats / 4))()
            let going = try await ready(operation.times * repeats)
            spans[operation.name] = try await span(operation.name, server, meter, going)
        }
        spans["idle"] = try await span("idle", server, meter) {
            try await Task.sleep(for: .seconds(20))
            return 1
        }
        return spans
    }

    /// With what follows of it behind its answers. The idle server's part is in it still.
    private func span(
        _ name: String, _ server: DevelopmentServer, _ meter: Meter, _ going: Operation.Going
    ) async throws -> Span {
        try await Task.sleep(for: .seconds(3))
        let log = try logEnd(server)
        let end = try meter(server)
        let (started, database) = (ContinuousClock.now, databaseTime(server))
        let count = try await going()
        try await Task.sleep(for: .seconds(2))
        let span = Span(
            count: count, seconds: (ContinuousClock.now - started) / .seconds(1),
            server: try end(name), database: databaseTime(server) - database,
            log: try logEnd(server) - log)
        say("\(name): \(count) in \(spoken(span.seconds)) s")
        return span
    }

    private func logEnd(_ server: DevelopmentServer) throws -> Double {
        Double(try server.ask("select pg_current_wal_insert_lsn() - '0/0'")) ?? 0
    }

    private func databaseTime(_ server: DevelopmentServer) -> Double {
        guard let postmaster = server.postmaster else { return 0 }
        let path = "/proc/\(postmaster)/task/\(postmaster)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return children.split(separator: " ").reduce(0) { sum, child in
            sum + (pid_t(child).map(Self.nanoseconds) ?? 0)
        }
    }

    /// Of processor time, over all threads that live.
    private static func nanoseconds(of process: pid_t) -> Double {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.reduce(0) { sum, thread in
            let text = try? String(
                contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            return sum + (text?.split(separator: " ").first.flatMap { Double($0) } ?? 0)
        }
    }
}
