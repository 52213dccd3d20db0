import Cryptography
import EventSourcing
import Foundation
import Postgres
import PostgresTesting
import Threads
import Values

@testable import EventStore

/// A second node: the `LogWriter` program, run until it has sent its commands, is told to end, or
/// is killed. It ends with this process, however that ends.
final class WriterProcess: Sendable {
    private let process: Process
    private let input: Pipe

    /// - Parameter commands: of each caller. 0: until `finish`.
    init(
        _ database: TestDatabase, master: MasterKey, realm: RealmID, ledger: String, callers: Int,
        commands: Int = 0, seed: UInt64
    ) throws {
        process = Process()
        input = Pipe()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("LogWriter")
        process.arguments = [
            database.application, realm.name, ledger, String(callers), String(commands),
            String(seed),
        ]
        var environment = ProcessInfo.processInfo.environment
        environment["URD_TEST_MASTER_KEY"] = Hex.encode(master.secret.exposedCopy())
        process.environment = environment
        process.standardInput = input
        try process.launchUnmasked()
    }

    var isRunning: Bool { process.isRunning }

    /// Lets every caller end its command. Answers how the process ended.
    func finish() async throws -> Int32 {
        try input.fileHandleForWriting.close()
        return try await ended()
    }

    func kill() async throws {
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = try await ended()
    }

    func ended() async throws -> Int32 {
        try await offPool { [process] in process.waitUntilExit() }
        return process.terminationStatus
    }
}

/// Does work that blocks on a thread of its own.
func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
{
    try await withCheckedThrowingContinuation { continuation in
        DedicatedThread.startRequired { continuation.resume(with: Result { try work() }) }
    }
}
