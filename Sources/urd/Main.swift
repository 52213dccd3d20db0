import Glibc

/// The program: its commands, where they write, and what the shell gets to see.
@main
enum Main {
    static func main() async {
        let program = Program(
            name: "urd", version: Version.text, commands: Commands.all,
            environment: .ofThisProcess(), console: .standard)
        let code = await program.run(Array(Swift.CommandLine.arguments.dropFirst()))
        exit(code.rawValue)
    }
}
