import Foundation
import Postgres
import PostgresTesting
import Threads

/// A program of the machine, run to its end.
struct Program: Sendable {
    let command: [String]

    init(_ command: [String]) {
        self.command = command
    }

    /// What it printed, both streams.
    @discardableResult
    func run() throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.launchUnmasked()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFailure("\(command.joined(separator: " ")) failed:\n\(text)")
        }
        return text
    }

    static func isInstalled(_ name: String) -> Bool {
        (try? Program(["which", name]).run()) != nil
    }

    /// Starts a program that lives until `end`, or until we die.
    /// - Parameter log: where it writes what it has to say; nil for nowhere.
    static func start(
        _ command: [String], environment: [String: String], log: String? = nil
    ) throws -> Running {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "KILL", "--"] + command
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        if let log, FileManager.default.createFile(atPath: log, contents: nil) {
            process.standardError = FileHandle(forWritingAtPath: log)
        } else {
            process.standardError = FileHandle.nullDevice
        }
        // The kernel kills the child when the thread that started it ends, so that one stays.
        let started = Monitor(Result<Void, any Error>?.none)
        let child = Unshared(process: process)
        DedicatedThread.startRequired {
            let result = Result { try child.process.launchUnmasked() }
            started.withLock { $0 = result }
            started.wakeAll()
            if case .success = result { child.process.waitUntilExit() }
        }
        try started.wait { $0 }.get()
        return Running(process: process)
    }

    /// Handed to one thread, and asked by others only for what may be asked from anywhere.
    private struct Unshared: @unchecked Sendable {
        let process: Process
    }

    final class Running {
        private let process: Process

        fileprivate init(process: Process) {
            self.process = process
        }

        var id: pid_t { process.processIdentifier }
        var isRunning: Bool { process.isRunning }

        func end() {
            process.terminate()
            process.waitUntilExit()
        }
    }
}

extension String {
    /// The number that follows a text.
    func number(after text: String) -> Double? {
        guard let found = range(of: text) else { return nil }
        let digits = self[found.upperBound...].drop { $0 == " " }
            .prefix { $0.isNumber || $0 == "." }
        return Double(digits)
    }
}
