import Foundation

/// A load generator that others wrote: 64 kept connections, one thread.
enum Wrk {
    /// One request that is sent again and again.
    struct Asking: Sendable {
        let url: String
        let script: String?
    }

    static func run(_ url: String, script: String? = nil, seconds: Double = 3) throws -> Double {
        var command = ["wrk", "-c", "64", "-t", "1", "-d", "\(Int(seconds))s"]
        let file = "/tmp/urd-bench-\(getpid()).lua"
        defer { try? FileManager.default.removeItem(atPath: file) }
        if let script {
            try script.write(toFile: file, atomically: true, encoding: .utf8)
            command += ["-s", file]
        }
        let text = try Program(command + [url]).run()
        guard let rate = text.number(after: "Requests/sec:"), !text.contains("Non-2xx") else {
            throw BenchmarkFailure("wrk said:\n\(text)")
        }
        return rate
    }
}
