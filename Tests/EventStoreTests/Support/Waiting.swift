import Foundation
import Testing

struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits until something that happens outside of this process has happened.
func eventually(
    _ what: String, within patience: Duration = .seconds(30),
    _ hasHappened: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + patience
    while try await !hasHappened() {
        guard ContinuousClock.now < deadline else {
            throw NeverHappened(description: "It never happened that \(what).")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Tests that repeat a thing do it a few times, and often where URD_LONG_TESTS=1 says so.
enum Cycles {
    static let isLong = ProcessInfo.processInfo.environment["URD_LONG_TESTS"] == "1"

    static func of(_ few: Int, long many: Int) -> Int { isLong ? many : few }
}
