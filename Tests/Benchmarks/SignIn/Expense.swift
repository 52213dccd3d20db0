import Foundation
import Glibc
import Synchronization

/// What things took of the processors, by who took it: to see where the time goes, on machines whose
/// clocks tell little.
final class Expense: Sendable {
    private struct Ticks {
        var server = 0.0
        var database = 0.0
        var load = 0.0
    }

    private let server: DevelopmentServer
    private let sum = Mutex((ticks: Ticks(), things: 0.0))

    init(of server: DevelopmentServer) {
        self.server = server
    }

    /// - Parameter work: says how many things it did.
    func count<Outcome>(
        _ work: () async throws -> (outcome: Outcome, things: Double)
    ) async rethrows -> Outcome {
        let before = now()
        let (outcome, things) = try await work()
        let after = now()
        sum.withLock {
            $0.ticks.server += after.server - before.server
            $0.ticks.database += after.database - before.database
            $0.ticks.load += after.load - before.load
            $0.things += things
        }
        return outcome
    }

    /// For each thing, in microseconds.
    var text: String? {
        let (ticks, things) = sum.withLock { $0 }
        guard things > 0 else { return nil }
        let each = 1_000_000 / Double(sysconf(Int32(_SC_CLK_TCK))) / things
        return "of the processors \(spoken(ticks.server * each)) µs server, "
            + "\(spoken(ticks.database * each)) µs PostgreSQL, "
            + "\(spoken(ticks.load * each)) µs load"
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

    /// User and system time; of children that are gone as well, if they are asked for.
    private static func ticks(of process: pid_t, withEnded: Bool) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[name...].split(separator: " ").dropFirst(12).prefix(withEnded ? 4 : 2)
        return fields.reduce(0) { $0 + (Double($1) ?? 0) }
    }
}
