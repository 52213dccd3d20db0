import Glibc

/// The program: its commands, where they write, and what the shell gets to see.
@main
enum Main {
    /// Not `async`: the first thread would then wait in libdispatch with all signals open, and the
    /// first of them would end us. So it waits for signals here; all work is in tasks.
    static func main() {
        Signals.block()
        Task.detached {
            let program = Program(
                name: "urd", version: Version.text, commands: Commands.all,
                environment: .ofThisProcess(), console: .standard)
            let code = await program.run(Array(Swift.CommandLine.arguments.dropFirst()))
            // At once, and with nothing torn down: threads that still connect would use what OpenSSL has
            // put away.
            _exit(code.rawValue)
        }
        Signals.waitForever()
    }
}
