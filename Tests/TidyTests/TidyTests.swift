import Foundation
import Testing

/// Each finding is one failure: where it is, what it is, and how to mend it.
private func expectNone(_ findings: [Finding]) {
    for finding in findings { Issue.record(Comment(rawValue: finding.description)) }
}

@Suite("House rules")
struct HouseRules {
    @Test func `a layer imports only what it may`() {
        expectNone(Repository.swift(in: "Sources").flatMap(Rules.imports))
    }

    @Test func `no property of a route depends on its path's text`() {
        expectNone(Repository.swift(in: "Sources/API").flatMap(Rules.paths))
    }

    @Test func `only the profiles' own files ask which profile it is`() {
        expectNone(Repository.swift(in: "Sources").flatMap(Rules.profiles))
    }

    @Test(arguments: RoomOrder.all.map(\.module))
    func `each folder of a module names only folders below it`(module: String) throws {
        let rules = try #require(RoomOrder.all.first { $0.module == module })
        expectNone(
            rules.findings(Repository.swift(in: "Sources/\(module)"), members: Self.members))
    }

    /// How often each member's name is declared.
    private static let members = Repository.swift(in: "Sources")
        .flatMap(DeclaredNames.members).reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }

    @Test func `no room of the adapter calls a member that another room gave to requests`() {
        expectNone(MemberRules.findings(Repository.swift(in: "Sources/API")))
    }

    @Test func `a surface words the rejections of the commands that it dispatches`() {
        expectNone(RejectionRules.findings(Repository.swift(in: "Sources/API")))
    }

    @Test func `banned constructs do not stand in the sources`() {
        expectNone(Repository.swift(in: "Sources").flatMap(Rules.bans))
    }

    @Test func `files and functions are small`() {
        expectNone(Repository.swift(in: "Sources", "Tests").flatMap(Rules.size))
    }

    @Test func `every statement that touches the log names its realm`() {
        expectNone(Repository.swift(in: "Sources").flatMap(SQLRules.strings))
    }

    @Test func `every SQL file says why it exists`() {
        for folder in ["Schema", "Projections"] {
            let files = Repository.files(in: folder, suffix: ".sql")
            #expect(!files.isEmpty)
            expectNone(files.flatMap { SQLRules.file(path: $0.path, text: $0.text) })
        }
    }

    @Test func `every SQL file stands in its index`() {
        for (folder, module) in [("Schema", "EventStore"), ("Projections", "ReadModels")] {
            let index = Repository.swift(in: "Sources/\(module)")
                .map { $0.code.joined(separator: "\n") }.joined(separator: "\n")
            for file in Repository.files(in: folder, suffix: ".sql") {
                let name = file.path.dropFirst(folder.count + 1)
                    .replacing("/", with: "_").replacing(".", with: "_")
                if !index.contains("PackageResources.\(name)") {
                    Issue.record(
                        "\(file.path):1: it is in no index. Name it in Sources/\(module)")
                }
            }
        }
    }

    /// Any role of the database may take them, an analyst's too (decision 0155).
    @Test func `nothing hangs on an advisory lock`() {
        let code = ["Sources", "Projections", "Schema"].flatMap { folder in
            [".swift", ".sql"].flatMap { Repository.files(in: folder, suffix: $0) }
        }
        for file in code where file.text.contains("advisory_") {
            Issue.record("\(file.path):1: an advisory lock. Lock a row that the role may change")
        }
    }

    /// The files of the baseline, which is migration 38, have no number.
    @Test func `migrations after the baseline are numbered without a gap`() {
        let number = Pattern("^Schema/m(\\d{3})_[a-z_]+\\.sql$")
        let baseline = Pattern("^Schema/[a-z_]+\\.sql$")
        var numbers: [Int] = []
        for path in Repository.files(in: "Schema", suffix: ".sql").map(\.path) {
            if let found = number.matches(in: path).first {
                numbers.append(Int(found[1]) ?? 0)
            } else if !baseline.isFound(in: path) {
                Issue.record("\(path):1: a migration is named m039_what_it_makes.sql")
            }
        }
        #expect(numbers.sorted() == Array((39...).prefix(numbers.count)))
    }
}

@Suite("Commands and their tests")
struct CommandRules {
    private static let declaration = Pattern(
        #"(?:struct|enum|class)\s+(\w+)(?:<[^>]*>)?\s*:[^{]*\b(?:Answering|Timed)?Command\b"#)
    private static let subcommand = Pattern(
        #"(?:struct|enum|class)\s+(\w+)\s*:[^{]*\bSubcommand\b"#)

    /// The commands that files hold, one finding for each file that holds more than its own.
    private static func commands(
        in folder: String, by pattern: Pattern
    ) -> (names: [(name: String, path: String)], findings: [Finding]) {
        var names: [(name: String, path: String)] = []
        var findings: [Finding] = []
        for file in Repository.swift(in: folder) {
            let code = file.code.joined(separator: "\n")
            let found = pattern.matches(in: code).map { $0[1] }
            names += found.map { ($0, file.path) }
            if !found.isEmpty, found != [file.name] {
                findings.append(
                    Finding(
                        path: file.path, line: 1, what: "holds \(found.joined(separator: ", "))",
                        remedy: "One command a file, and the file has its name"))
            }
        }
        return (names, findings)
    }

    @Test func `a command has a file of its own and a test that names it`() {
        let (commands, findings) = Self.commands(in: "Sources/Identity", by: Self.declaration)
        #expect(!commands.isEmpty)
        expectNone(findings)
        let tests = Repository.swift(in: "Tests").filter { $0.module != "TidyTests" }
        for (name, path) in commands {
            let call = Pattern("\\b\(name)\\b")
            if !tests.contains(where: { $0.code.contains { call.isFound(in: $0) } }) {
                Issue.record(
                    "\(path):1: no test names \(name). Add given/when/then for each outcome")
            }
        }
    }

    private static let change = Pattern(#"package static func (\w+)\(([^{]*)\{([^{]*)\{"#)

    /// The changes of an aggregate: functions of one type, which has the file's name.
    private static let changes = Repository.swift(in: "Sources/Identity")
        .filter { $0.name.hasSuffix("Changes") }
        .flatMap { file in
            change.matches(in: file.code.joined(separator: "\n")).map {
                (
                    name: "\(file.name.dropLast()).\($0[1])", path: file.path, inputs: $0[2],
                    making: $0[3]
                )
            }
        }

    @Test func `a change has a test that names it, and stands in the table of realms`() {
        #expect(!Self.changes.isEmpty)
        let table = "Tests/IdentityTests/RealmStandingTests.swift"
        let tests = Repository.swift(in: "Tests").filter { $0.module != "TidyTests" }
        for change in Self.changes {
            let call = Pattern("\\b\(change.name)\\(")
            if !tests.contains(where: { $0.code.contains { call.isFound(in: $0) } }) {
                Issue.record(
                    "\(change.path):1: no test names \(change.name). Add given/when/then for each outcome"
                )
            }
            if !Repository.text(table).contains("command(\(change.name))") {
                Issue.record(
                    "\(change.path):1: say in \(table) whether \(change.name) needs an open realm")
            }
        }
    }

    @Test func `a change that looks at the time is decided no earlier than what it reads`() {
        for change in Self.changes
        where change.inputs.contains("now: Timestamp") && !change.making.contains("at: now") {
            Issue.record(
                "\(change.path):1: \(change.name) has a time of its own. Hand it in as at: now")
        }
    }

    @Test func `every command stands in the table of what a disabled realm refuses`() {
        let path = "Tests/IdentityTests/RealmStandingTests.swift"
        let table = Repository.text(path)
        for (name, command) in Self.commands(in: "Sources/Identity", by: Self.declaration).names
        where !Pattern("\\b\(name)(<\\w+>)?\\.self").isFound(in: table) {
            Issue.record("\(command):1: say in \(path) whether \(name) needs an open realm")
        }
    }

    /// The table holds only if the type of a command's facts decides, but for the one exception.
    @Test func `only the deletion of a due account has a rule of its own about its realm`() {
        let files = Repository.swift(in: "Sources/Identity").filter { file in
            file.code.contains { $0.contains("func requireRealm(") }
        }
        #expect(files.map(\.name) == ["DeleteAccount", "InRealm"])
    }

    private static let ownTime = Pattern(#"\bvar now: Timestamp\b"#)
    private static let fixedTime = Pattern(#"\blet now: Timestamp\b"#)

    /// A command whose time the dispatcher can't move takes for good what is over, where a clock is set back.
    @Test func `a command that looks at the time is decided no earlier than what it reads`() {
        var findings: [Finding] = []
        for file in Repository.swift(in: "Sources/Identity") {
            let code = file.code.joined(separator: "\n")
            guard Self.declaration.isFound(in: code) else { continue }
            let isMissing =
                Self.ownTime.isFound(in: code) && !code.contains("TimedCommand")
                || code.contains("request.now") && !code.contains("func notBefore(")
                || Self.fixedTime.isFound(in: code)
            guard isMissing else { continue }
            findings.append(
                Finding(
                    path: file.path, line: 1, what: "a command with a time of its own",
                    remedy: "Make it a TimedCommand, or write notBefore(_:)"))
        }
        expectNone(findings)
    }

    /// Names and log lines may have this machine's time; what is decided has the realm's.
    @Test func `nothing is decided by the clock of the machine`() {
        let allowed = [
            "Sources/Telemetry/Sink.swift", "Sources/Telemetry/Log.swift",
            "Sources/EventStore/DatabaseClock.swift", "Sources/urd/Mailing/SMTPCarrier.swift",
            "Sources/urd/Node/Inbox.swift", "Sources/urd/Commands/EventOutput.swift",
            "Sources/urd/Doctor/DoctorToolsOfThisBinary.swift",
            // `--since 24h` asks for a part of a list; nothing is decided by it.
            "Sources/urd/Administration/RouteValues.swift",
            "Sources/urd/Commands/EventSelection.swift",
        ]
        var findings: [Finding] = []
        for file in Repository.swift(in: "Sources") where !allowed.contains(file.path) {
            for (number, line) in Rules.lines(of: file) where line.contains("systemTime") {
                findings.append(
                    Finding(
                        path: file.path, line: number, what: "the machine's clock",
                        remedy: "Take the time of the realm: context.clock, or the store's"))
            }
        }
        expectNone(findings)
    }

    @Test func `a command of the program has a file of its own and stands in the table`() {
        let (commands, findings) = Self.commands(in: "Sources/urd", by: Self.subcommand)
        #expect(!commands.isEmpty)
        expectNone(findings)
        let index = "Sources/urd/Commands/Commands.swift"
        let table = Repository.text(index)
        for (name, path) in commands where !Pattern("\\b\(name)\\b").isFound(in: table) {
            Issue.record("\(path):1: \(name) is in no table. Add it to \(index)")
        }
    }

    private static let namelessTest = Pattern(#"@Test\b.*\bfunc\s+[^`\s]"#)

    @Test func `the name of a test is a sentence`() {
        var findings: [Finding] = []
        for file in Repository.swift(in: "Tests") {
            for (number, line) in Rules.lines(of: file) where Self.namelessTest.isFound(in: line) {
                findings.append(
                    Finding(
                        path: file.path, line: number, what: "a test without a sentence",
                        remedy: "Name it in backticks, as what must be true"))
            }
        }
        expectNone(findings)
    }
}

@Suite("The repository")
struct RepositoryRules {
    private static let machinePath = Pattern(
        #"(?<![\w.~$}*-])/(?:wor[k]|roo[t]|User[s]|hom[e]/\w+)(?:/[\w.-]|(?=["'\s]))"#)
    private static let textSuffixes = [
        ".swift", ".md", ".sql", ".py", ".sh", ".h", ".modulemap", ".yml", ".yaml", ".json",
        ".service", ".socket", ".conf", "Makefile", ".ci/run",
    ]

    @Test func `no path of one machine stands in a file`() {
        for path in Repository.paths where Self.textSuffixes.contains(where: path.hasSuffix) {
            let lines = Repository.text(path).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated()
            where Self.machinePath.isFound(in: String(line)) {
                Issue.record(
                    "\(path):\(index + 1): a path of one machine. Find it from the file's own place"
                )
            }
        }
    }

    @Test func `the package names its folders and settings explicitly`() {
        let package = SwiftFile(path: "Package.swift", text: Repository.text("Package.swift"))
        #expect(!package.literals.isEmpty)
        for literal in package.literals where literal.text.contains("*") {
            Issue.record("Package.swift:\(literal.line): a glob. Name the folder or the file")
        }
        for (number, line) in Rules.lines(of: package)
        where line.contains("unsafeFlags")
            && !line.contains("let hot: ")
        {
            Issue.record("Package.swift:\(number): unsafe flags. Ask for a setting by its name")
        }
    }

    @Test func `nothing is built without its checks`() {
        for path in ["Package.swift", "Makefile", ".ci/run", "Tests/run.sh"] {
            #expect(
                !Repository.text(path).contains("-Ounchecked"),
                "\(path):1: -Ounchecked removes every precondition. Take it out")
        }
    }

    @Test func `every module of the package stands in a layer`() {
        let folders = Set(
            Repository.paths.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
                .compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) })
        #expect(folders.isSubset(of: Rules.layers.keys))
    }

    @Test func `every script is executable`() {
        let scripts = Repository.paths.filter { $0.hasSuffix(".sh") } + [".ci/run"]
        for path in scripts {
            let file = Repository.root.appending(path: path).path(percentEncoded: false)
            #expect(
                FileManager.default.isExecutableFile(atPath: file),
                "\(path):1: it is not executable. chmod +x \(path)")
        }
    }
}
