import Foundation
import Glibc

/// valgrind's tool that counts instructions, of a process that it runs.
struct Callgrind: Sendable {
    let folder: String

    /// valgrind 3.19 cannot read what Swift writes for debuggers; names of functions are left.
    func strip(_ binary: String) throws -> String {
        let copy = "\(folder)/urd"
        try Program(["strip", "--strip-debug", "-o", copy, binary]).run()
        return copy
    }

    /// What stands before a program that is to be counted, later.
    var command: [String] {
        [
            "valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--instr-atstart=no",
            "--callgrind-out-file=\(folder)/callgrind",
        ]
    }

    /// Counts from now on.
    func begin(_ process: pid_t) throws {
        try tell(process, "zero")
        try tell(process, "instrumentation", "on")
    }

    /// Leaves a profile of this name, and says how many instructions it has.
    func end(_ process: pid_t, _ name: String) throws -> Double {
        try tell(process, "instrumentation", "off")
        try tell(process, "dump")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard let dump = files.first(where: { $0.hasPrefix("callgrind.") }) else {
            throw BenchmarkFailure("callgrind left no profile.")
        }
        let path = "\(folder)/\(name).profile"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(folder)/\(dump)", toPath: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let total = text.number(after: "totals:") else {
            throw BenchmarkFailure("\(path) has no total.")
        }
        return total
    }

    private func tell(_ process: pid_t, _ words: String...) throws {
        try Program(["vgdb", "--pid=\(process)"] + words).run()
    }
}
