import Glibc
import JSON
import Testing
import Values

@testable import urd

@Suite("The command line")
struct ProgramTests {
    @Test(arguments: [
        ("echo a", "1 [\"a\"] []\n"),
        ("echo a b c", "1 [\"a\", \"b\", \"c\"] []\n"),
        ("echo --times 3 a", "3 [\"a\"] []\n"),
        ("echo a --times=3", "3 [\"a\"] []\n"),
        ("echo a --tag x --tag=y", "1 [\"a\"] [\"x\", \"y\"]\n"),
        ("echo a --tag=-x", "1 [\"a\"] [\"-x\"]\n"),
        ("echo -- --times", "1 [\"--times\"] []\n"),
        ("echo -", "1 [\"-\"] []\n"),
    ])
    func `words on the command line reach the command that they name`(
        line: String, expected: String
    ) async {
        let result = await run(line)
        #expect(result.output == expected)
        #expect(result.code == .success)
        #expect(result.error.isEmpty)
    }

    @Test(arguments: [
        (["--loud"], ["true"]), (["--loud", "true"], ["true"]), (["--loud", "false"], ["false"]),
        (["--loud=false"], ["false"]), (["a", "--loud", "b"], ["true"]),
        (["--loud", "--json"], ["true"]),
    ])
    func `a switch named without a value is on`(_ words: [String], _ value: [String])
        throws
    {
        let arguments = try Arguments(
            words, options: Echo.options, operands: [Operand("rest", "All", count: .rest)])
        #expect(arguments.values["loud"] == value)
        #expect(arguments.rest("rest") == words.filter { $0.count == 1 })
    }

    @Test func `an empty argument is refused by its name`() async {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: [Echo()], environment: Environment([:]),
            console: notes.console())
        #expect(await program.run(["echo", ""]) == .usage)
        #expect(notes.error.hasPrefix("urd: <word> is empty: What to say\n"))
        #expect(await program.run(["echo", "a", ""]) == .success)
    }

    @Test func `a command decides its exit code`() async {
        #expect(await run("echo a --json").code == .failure)
    }

    @Test(arguments: [
        ("echo", "missing <word>: What to say"),
        ("echo --loud --loud a", "--loud was given twice"),
        ("echo a --tims 3", "unknown option --tims; did you mean --times?"),
        ("echo a --somethingelse", "unknown option --somethingelse\n"),
        ("echo a -t 3", "unknown option -t; options are written --name"),
        ("echo a --times", "--times needs a value: --times count"),
        ("echo a --times --json", "--times needs a value: --times count"),
        ("echo a --times 3 --times 4", "--times was given twice"),
        ("echo a --times 10", "--times must be a whole number from 1 to 9, not '10'"),
        ("echo a --times x", "--times must be a whole number from 1 to 9, not 'x'"),
        ("echo a --json=yes", "--json takes no value"),
        ("client list x", "unexpected word 'x'"),
        ("ecko a", "unknown command 'ecko a'; did you mean 'echo'?"),
        ("client regster", "unknown command 'client regster'; did you mean 'client register'?"),
        ("clients", "unknown command 'clients'; did you mean 'client'?"),
        ("client nosuch x", "unknown command 'client nosuch'; `urd client` has register, list\n"),
        ("nosuch thing", "unknown command 'nosuch thing'\n"),
        ("--nothing", "unknown option --nothing"),
    ])
    func `a wrong call is answered with help`(line: String, expected: String) async {
        let result = await run(line)
        #expect(result.code == .usage)
        #expect(result.error.contains(expected))
        #expect(result.error.contains("shows how to ask"))
        #expect(result.output.isEmpty)
    }

    @Test func `a failure has its reason and its remedy`() async {
        let result = await run("client list")
        #expect(result.code == .failure)
        #expect(result.error == "urd: the realm is closed\nOpen it.\n")
    }

    @Test func `a failure with --json is reported in JSON`() async throws {
        let wrong = await run("client list --json")
        #expect(wrong.code == .usage && wrong.output.isEmpty)
        let told = try JSON.parse(Array(wrong.error.utf8))
        #expect(told["error"] == "unknown option --json")
        #expect(told["remedy"] == "`urd client list --help` shows how to ask.")
        #expect(await run("client list -- --json").error.hasPrefix("urd: unexpected word"))
        let failed = await run("fail --json")
        #expect(failed.code == .failure)
        #expect(failed.error == #"{"error":"it is \"closed\"","remedy":"Open it."}"# + "\n")
    }

    @Test func `a result that cannot be written is a failure, reported once`() async {
        let notes = Notes()
        let full = Console { bytes, stream throws(SystemFailure) in
            guard stream == .output else { return notes.console().send(bytes, stream) }
            throw SystemFailure("write", "the output", code: ENOSPC)
        }
        let program = Program(
            name: "urd", version: "1.2.3", commands: [Echo(), Endless()],
            environment: Environment([:]), console: full)
        for words in [["echo", "a"], ["--help"], ["endless"]] {
            let said = notes.error.utf8.count
            #expect(await program.run(words) == .failure)
            #expect(
                notes.error.dropFirst(said)
                    == "urd: cannot write the output: No space left on device\n"
                    + "The result is not whole.\n")
        }
    }

    @Test func `a reader that closes the pipe ends a command quietly`() async {
        let notes = Notes()
        let gone = Console { bytes, stream throws(SystemFailure) in
            guard stream == .output else { return notes.console().send(bytes, stream) }
            throw SystemFailure("write", "the output", code: EPIPE)
        }
        let program = Program(
            name: "urd", version: "1.2.3", commands: [Echo(), Endless()],
            environment: Environment([:]), console: gone)
        #expect(await program.run(["echo", "a"]) == .success)
        #expect(await program.run(["endless"]) == .success)
        #expect(notes.error.isEmpty)
    }

    @Test(arguments: ["--help", "-h", "help"])
    func `help lists every noun by its purpose`(line: String) async {
        let result = await run(line)
        #expect(result.code == .success)
        for text in [
            "\nClients\n  client", "Manage OAuth clients", "\nOther\n  echo", "Say it again",
            "`urd --version`",
        ] {
            #expect(result.output.contains(text))
        }
    }

    @Test func `help all lists every command`() async {
        let result = await run("help all")
        #expect(result.code == .success)
        for text in ["echo", "Say it again", "client register", "Register a client"] {
            #expect(result.output.contains(text))
        }
    }

    @Test(arguments: ["client", "client --help"])
    func `help on a group lists its commands`(line: String) async {
        let result = await run(line)
        #expect(result.output.contains("client register"))
        #expect(!result.output.contains("echo"))
        #expect(result.code == (line == "client" ? .usage : .success))
    }

    @Test(arguments: ["client register --help", "client register -h", "help client register"])
    func `a command's page has every option and setting`(line: String) async {
        let result = await run(line)
        #expect(result.code == .success)
        #expect(
            result.output.hasPrefix("Register a client.\n\nusage: urd client register [options]"))
        #expect(result.output.contains("`urd help settings`"))
        #expect(!result.output.contains("--listen-port"))
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= HelpText.width })
    }

    @Test func `a version names its commit where the build was told of one`() {
        #expect(Version.label(commit: "") == Version.number)
        #expect(
            Version.label(commit: "346a8ffd1c2b, 2026-11-25")
                == "\(Version.number) (346a8ffd1c2b, 2026-11-25)")
    }

    @Test func `--version prints the version, and a call without words fails`() async {
        #expect(await run("--version").output == "urd 1.2.3\n")
        #expect(await run("version").output == "urd 1.2.3\n")
        #expect(await run("-V").output == "urd 1.2.3\n")
        let nothing = await run("")
        #expect(nothing.code == .usage)
        #expect(nothing.output.isEmpty)
        #expect(nothing.error.contains("usage: urd <command>"))
    }

    @Test func `a setting is a flag of the commands that declare it`() async {
        let environment = ["URD_LISTEN_PORT": "5", "URD_DATABASE_URL": "postgresql://x"]
        let flag = await run("client register --listen-port 6", environment: environment)
        #expect(flag.output == "port 6\n")
        #expect(await run("client register", environment: environment).output == "port 5\n")
        let missing = await run("client register")
        #expect(missing.code == .usage)
        #expect(missing.error.contains("database-url is not set: give --database-url or URD_"))
        let unknown = await run("client register --drain 5s")
        #expect(unknown.code == .usage)
    }

    @Test(arguments: [
        ("--type otp.isued", "--type: there is no 'otp.isued'; did you mean otp.issued?"),
        ("--stream demo", "--stream must be an id, not 'demo'"),
        ("--since soon", "--since 'soon' is no time. A day,"),
    ])
    func `a filter of events that cannot be is refused before the query`(
        option: String, error: String
    ) async {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: [EventsTail()], environment: Environment([:]),
            console: notes.console())
        let words = "events tail --realm acme \(option)".split(separator: " ").map(String.init)
        #expect(await program.run(words) == .usage)
        #expect(notes.error.contains(error), "\(notes.error)")
    }

    @Test func `commands with the same first word stand together`() {
        let commands: [any AnySubcommand] = [ClientRegister(), Echo(), ClientList()]
        let lines = HelpText.list(of: commands, under: [], program: "urd")
            .split(separator: "\n").filter { $0.hasPrefix("  ") }
        #expect(lines.map { $0.split(separator: " ").first } == ["client", "client", "echo"])
    }

    @Test func `every command of urd has its own words and page`() {
        let names = Commands.all.map(\.form.name)
        #expect(Set(names).count == names.count)
        for command in Commands.all {
            let form = command.form
            #expect(!form.summary.hasSuffix("."))
            let options = form.allOptions.map(\.name)
            #expect(Set(options).count == options.count, "\(form.name) has an option twice")
            #expect(!HelpText.page(of: form, program: "urd").isEmpty)
        }
    }
}

@Suite("Names that were nearly right")
struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "axc", 1),
        ("kitten", "sitting", 3), ("listen-prot", "listen-port", 1),
    ])
    func `a nearest name's edits are counted`(left: String, right: String, distance: Int) {
        #expect(NearestName.editDistance(Array(left.utf8), Array(right.utf8)) == distance)
        #expect(NearestName.editDistance(Array(right.utf8), Array(left.utf8)) == distance)
    }

    @Test func `a missing thing is named, and the nearest name beside it`() {
        let known = ["demo", "flagship"]
        #expect(
            CommandFailure.missing("realm", "demmo", among: known).what
                == "There is no realm 'demmo'. Did you mean 'demo'?")
        #expect(
            CommandFailure.missing("realm", "acme", among: known, remedy: "Look.").description
                == "There is no realm 'acme'.\nLook.")
    }

    @Test func `a nearest name is suggested for a slip alone`() {
        let known = ["drain", "log-level", "log-format"]
        #expect(NearestName.find("drian", among: known) == "drain")
        #expect(NearestName.find("loglevel", among: known) == "log-level")
        #expect(NearestName.find("password", among: known) == nil)
        #expect(NearestName.find(String(repeating: "x", count: 100_000), among: known) == nil)
    }
}
