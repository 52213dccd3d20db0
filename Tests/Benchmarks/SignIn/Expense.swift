import Foundation
import Glibc
import Synchronization

/// Processor time per operation, by process: the server, its PostgreSQL, and the load generator.
final class Expense: Sendable {
    struct Sample: Sendable {
        /// Microseconds per operation.
        let server: Double
        let database: Double
        let load: Double
    }

    private struct Ticks {
        var server = 0.0
        var database = 0.0
        var load = 0.0
    }

    private static let microseconds = 1_000_000 / Double(sysconf(Int32(_SC_CLK_TCK)))

    private let server: DevelopmentServer
    private let latest = Mutex<Sample?>(nil)

    init(of server: DevelopmentServer) {
        self.server = server
    }

    /// Of the latest slice that was counted.
    var sample: Sample? { latest.withLock { $0 } }

    /// - Parameter work: says how many operations it did.
    func count<Outcome>(
        _ work: () async throws -> (outcome: Outcome, operations: Double)
    ) async rethrows -> Outcome {
        let before = now()
        let (outcome, operations) = try await work()
        let after = now()
        let each = Self.microseconds / max(1, operations)
        latest.withLock {
            $0 = Sample(
                server: (after.server - before.server) * each,
                database: (after.database - before.database) * each,
                load: (after.load - before.load) * each)
        }
        return outcome
    }

    /// What PostgreSQL took for each of some commits, in microseconds.
    func ofCommits(_ commit: () throws -> (rate: Double, count: Double)) rethrows -> (
        rate: Double, each: Double
    ) {
        let before = now().database
        let (rate, count) = try commit()
        return (rate, (now().database - before) * Self.microseconds / max(1, count))
    }

    /// What this process took for each of some answers, without its children, in microseconds.
    static func ofAnswers(_ answer: () throws -> (rate: Double, count: Double)) rethrows -> (
        rate: Double, each: Double
    ) {
        let before = ticks(of: getpid(), withEnded: false)
        let (rate, count) = try answer()
        let after = ticks(of: getpid(), withEnded: false)
        return (rate, (after - before) * microseconds / max(1, count))
    }

    private func now() -> Ticks {
        var ticks = Ticks()
        ticks.server = Self.ticks(of: server.id, withEnded: false)
        if let postmaster = server.postmaster {
            ticks.database = Self.ticks(of: postmaster, withEnded: true)
            let path = "/proc/\(postmaster)/task/\(postmaster)/children"
            let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            for child in children.split(separator: " ") {
                ticks.database += pid_t(child).map { Self.ticks(of: $0, withEnded: false) } ?? 0
            }
        }
        ticks.load = Self.ticks(of: getpid(), withEnded: true)
        return ticks
    }

    /// User and system time; of children that have ended as well, if they are asked for.
    private static func ticks(of process: pid_t, withEnded: Bool) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[name...].split(separator: " ").dropFirst(12).prefix(withEnded ? 4 : 2)
        return fields.reduce(0) { $0 + (Double($1) ?? 0) }
    }
}
