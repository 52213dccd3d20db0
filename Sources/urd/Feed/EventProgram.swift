import EventSourcing
import Glibc

/// The program that is run for each event: the event is its input, and 0 says that it is done with it.
struct EventProgram: Sendable {
    let command: String
    /// Of the caller, for the program.
    let environment: [String]

    /// Blocks until it has ended.
    func run(_ event: [UInt8], _ cursor: LogCursor) throws(CommandFailure) -> ChildProcess.Ending {
        // A file and no pipe: a program need not read its input.
        guard let file = tmpfile() else {
            throw CommandFailure("\(SystemFailure("open", "an event's file"))")
        }
        defer { fclose(file) }
        let input = fileno(file)
        do throws(SystemFailure) {
            try Descriptor.write(event + [0x0A], to: input, "an event's file")
            lseek(input, 0, SEEK_SET)
            var child = ChildProcess(executable: "/bin/sh", arguments: ["-c", command])
            child.environment = environment + ["URD_CURSOR=\(cursor)"]
            child.folder = "."
            child.input = input
            child.output = STDOUT_FILENO
            child.errors = STDERR_FILENO
            return ChildProcess.wait(for: try child.start())
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
