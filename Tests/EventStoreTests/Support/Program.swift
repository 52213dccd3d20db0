import Foundation
import PostgresTesting

/// Programs of the system that tests use.
enum Program {
    /// Runs one to its end and tells whether it was content.
    @discardableResult
    static func run(_ command: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        do { try process.launchUnmasked() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
