import Testing

/// A rule that never finds anything proves nothing: each is shown what it is there for.
@Suite("The house rules find what they look for")
struct RuleTests {
    private func file(_ text: String, module: String = "Identity") -> SwiftFile {
        SwiftFile(path: "Sources/\(module)/Sample.swift", text: text)
    }

    @Test(arguments: [
        "import Foundation", "public import HTTP", "  internal import Postgres",
        "import struct Foundation.URL", "@preconcurrency import Glibc",
    ])
    func `an import from a higher layer is found`(line: String) {
        let findings = Rules.imports(file("import Values\n\(line)\n"))
        #expect(findings.map(\.line) == [2])
    }

    @Test func `an import from a lower layer is accepted`() {
        let text = "public import Values\ninternal import JSON\nimport Synchronization\n"
        #expect(Rules.imports(file(text)).isEmpty)
        #expect(Rules.imports(file(text, module: "Nowhere")).count == 1)
    }

    @Test(arguments: [
        "if request.path == Routes.path {}", "guard request.path != \"/\" else {}",
        "let a = request.path.utf8.starts(with: b)", "let a = paths.contains(request.path)",
        "if request.path.hasPrefix(a) {}",
    ])
    func `a comparison of a request's path is found`(line: String) {
        let file = SwiftFile(path: "Sources/API/OAuth/Sample.swift", text: "let a = 1\n\(line)\n")
        #expect(Rules.paths(file).map(\.line) == [2])
        let routing = SwiftFile(path: "Sources/API/Web/Sample.swift", text: "\(line)\n")
        #expect(Rules.paths(routing).isEmpty)
    }

    @Test(arguments: [
        "if settings[SettingCatalogue.profile] == .flagship {}",
        "let a = settings[.profile]", "guard metadata.profile != .voo else {}",
    ])
    func `a question which profile it is is found`(line: String) {
        #expect(Rules.profiles(file("let a = 1\n\(line)\n")).map(\.line) == [2])
    }

    private func rooms(_ texts: [String: String]) -> [SwiftFile] {
        texts.sorted { $0.key < $1.key }.map {
            SwiftFile(path: "Sources/API/\($0.key)", text: $0.value)
        }
    }

    @Test func `a room that names a type of a higher room is found`() {
        let files = rooms([
            "Web/A.swift": "struct A {}\nlet b: B\nlet c = Table.b\n",
            "Access/B.swift": "struct B { let a: A }\n", "Table.swift": "enum Table {}\n",
            "Site/C.swift": "let b = B()\nlet d: [D]\n", "Voo/D.swift": "final class D {}\n",
        ])
        #expect(
            RoomOrder.api.violations(files).map { "\($0.path):\($0.line) \($0.name)" } == [
                "Sources/API/Site/C.swift:2 D", "Sources/API/Web/A.swift:2 B",
                "Sources/API/Web/A.swift:3 Table",
            ])
    }

    @Test func `functions, initialisers and members of a higher room are found`() {
        let files = rooms([
            "Admin/A.swift":
                "func reading() {}\nextension Problem {\n    init(of a: Int) {}\n    var isOurs: Bool { true }\n    private var isHidden: Bool { true }\n}\n",
            "Web/Problem.swift": "struct Problem {\n    init(_ a: Int) {}\n}\n",
            "Access/B.swift":
                "let a = reading()\nlet b = Problem(of: 1).isOurs\nlet c = Problem(1).isHidden\nfunc reading(a: Int) {}\n",
            "Access/C.swift": "let a = try await reading { 1 }\n",
        ])
        #expect(
            RoomOrder.api.violations(files).map { "\($0.path):\($0.line) \($0.name)" } == [
                "Sources/API/Access/B.swift:2 Problem(of:)", "Sources/API/Access/B.swift:2 .isOurs",
            ])
        let alone = files.filter { $0.path != "Sources/API/Access/B.swift" }
        #expect(
            RoomOrder.api.violations(alone).map { "\($0.path):\($0.line) \($0.name)" } == [
                "Sources/API/Access/C.swift:1 reading()"
            ])
        #expect(RoomOrder.api.violations(files, members: ["isOurs": 2]).count == 1)
    }

    @Test func `a member of a request that another room can call is found`() {
        let files = rooms([
            "Access/A.swift":
                "extension Call<RealmContext> {\n    var a: Int { 1 }\n    private var b: Int { 2 }\n}\n",
            "Native/N.swift":
                "extension Call<RealmContext> {\n    func c() {}\n    func d() {}\n}\n",
            "OAuth/O.swift":
                "extension Call<RealmContext> {\n    func d() {}\n    func e() { self.c() }\n}\n",
            "Site/S.swift": "let s = { call in call.e() }\nlet t = other.e()\n",
        ])
        #expect(
            MemberRules.findings(files).map { "\($0.path):\($0.line) \($0.what)" } == [
                "Sources/API/Access/A.swift:2 gives every request the member a",
                "Sources/API/Native/N.swift:3 gives requests a member d, as another room does",
                "Sources/API/OAuth/O.swift:3 calls c of Native",
                "Sources/API/Site/S.swift:1 calls e of OAuth",
            ])
    }

    @Test func `a rejection in the words of another surface is found`() {
        let words = "extension A.Rejection: Refusal {\n}\n"
        let files = rooms([
            "Access/X.swift": "extension B.Rejection: Refusal {\n}\n", "Admin/A.swift": words,
            "Native/N.swift": "try await dispatch(\n    A(id: 1), as: user)\n",
            "OAuth/O.swift": "let refusal = try await attempt(\n    A(id: 1), as: user)\n",
            "Site/S.swift":
                "try await dispatch(\n    A(id: 1), as: user) { rejection in\n}\ndispatch(B())\n",
        ])
        #expect(
            RejectionRules.findings(files).map { "\($0.path):\($0.line) \($0.what)" } == [
                "Sources/API/Native/N.swift:2 has A refused in the words of Admin",
                "Sources/API/Access:1 words B.Rejection, which Site alone dispatches",
            ])
    }

    @Test func `a type that two files declare belongs to no room`() {
        let files = rooms([
            "Web/A.swift": "let b: B\n", "Access/B.swift": "struct B {}\n",
            "Site/B.swift": "struct B {}\n",
        ])
        #expect(RoomOrder.api.violations(files).isEmpty)
    }

    @Test(arguments: [
        "let a = try! b()", "let a = b as! C", "let a = b!", "a.b!.c()", "f()![0]", "a[0]! + 1",
        "var a: Int!", "print(a)", "debugPrint(a)", "fatalError(\"x\")", "let now = Date()",
        "nonisolated(unsafe) var a = 1", "final class A: @unchecked Sendable {}",
        "let a = 1  // TODO: b", "let text = \"\\(a!)\"",
    ])
    func `banned constructs are found`(line: String) {
        #expect(Rules.bans(file("let first = 0\n\(line)\n")).map(\.line) == [2])
    }

    @Test(arguments: [
        "if a != b {}", "if !a {}", "// try! never", "let text = \"print( and fatalError(!\"",
        "console.print(a)", "func blueprint(_ a: Int) {}", "/* a! */ let a = 1",
        "let raw = #\"try! \"quoted\" b!\"#", "let a = !b", "a !== b",
        "let ok = \"\\(a ? \"b!\" : c)\"",
    ])
    func `code that only resembles a banned construct is accepted`(line: String) {
        #expect(Rules.bans(file(line + "\n")).isEmpty)
    }

    @Test func `a long function and a long file are found`() {
        let body = (0..<80).map { "    let a\($0) = 0" }.joined(separator: "\n")
        let text = "struct S {\n    func long(\n        a: Int\n    ) {\n\(body)\n    }\n}\n"
        #expect(Rules.size(file(text)).map(\.line) == [2])
        #expect(Rules.size(file(String(repeating: "\n", count: 401))).map(\.line) == [400])
        #expect(Rules.size(file(String(repeating: "\n", count: 400))).isEmpty)
    }

    @Test func `a function's first and last line are found`() {
        let text = """
            protocol P {
                func required(a: Int) -> Int
                init(a: Int)
            }
            func short() { f(.init(1)) }
            func braces() -> String {
                let a = "}{"  // }
                return a
            }
            init?(b: Int)
                where T: P
            {
                a { b }
            }
            """
        let found = Rules.functions(file(text))
        #expect(found.map(\.name) == ["func short", "func braces", "init"])
        #expect(found.map(\.length) == [1, 4, 5])
    }

    @Test(arguments: [
        "select position from urd.event where position = $1", "delete from urd.claim x",
        "insert into urd.command values ($1)", "update urd.realm_log set position = 1",
        "SELECT 1 FROM urd.stream", "select 1 from {log} e",
    ])
    func `SQL without its realm is found`(sql: String) {
        let inFile = "-- Why.\n\nselect 1;\n\(sql);\n"
        #expect(SQLRules.file(path: "Schema/a.sql", text: inFile).map(\.line) == [4])
        let inSwift = file("let a = 0\nlet b = \"\"\"\n    \(sql)\n    \"\"\"\n")
        #expect(SQLRules.strings(of: inSwift).map(\.line) == [2])
    }

    @Test(arguments: [
        "select position from urd.event where realm = $1", "select 1 from urd.migration",
        "create table urd.event (position bigint)", "select 1 from urd.event_archive",
    ])
    func `SQL with its realm is accepted`(sql: String) {
        #expect(SQLRules.file(path: "Schema/a.sql", text: "-- Why.\n\(sql);\n").isEmpty)
    }

    @Test func `an SQL file without a reason or a name is found`() {
        #expect(SQLRules.file(path: "Schema/1.sql", text: "select 1;\n").count == 2)
        // What a comment says is no statement.
        #expect(SQLRules.file(path: "Schema/a.sql", text: "-- from urd.event;\n").isEmpty)
        let long = "-- Why.\n" + String(repeating: "\n", count: 400)
        #expect(SQLRules.file(path: "Schema/a.sql", text: long).map(\.line) == [400])
        #expect(SQLRules.file(path: "Schema/a.sql", text: String(long.dropLast())).isEmpty)
    }

    @Test func `strings and comments are told from code`() {
        let text = #"""
            let a = "one \("two" + b("three")) four" // "five"
            let c = """
                six "seven" \(d)
                """
            /* "eight" /* nested */ "nine" */ let e = #"ten " \(no) eleven"#
            """#
        let scanned = SwiftFile(path: "Sources/A/a.swift", text: text)
        #expect(
            scanned.literals.map(\.text) == [
                "two", "three", "one (\"two\" + b(\"three\")) four",
                "\n    six \"seven\" (d)\n    ", "ten \" \\(no) eleven",
            ])
        #expect(scanned.code.count == 5)
        #expect(scanned.code[4].contains("let e"))
        #expect(!scanned.code[4].contains("nested"))
    }
}
