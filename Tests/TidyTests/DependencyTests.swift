import Testing

/// Dependencies of targets in Package.swift and imports of files.
private enum Dependencies {
    struct Target {
        let name: String
        let folder: String
        let declared: [String]
    }

    static let targets: [Target] = {
        let package = Repository.text("Package.swift")
        let short = Pattern(#"(module|tests)\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?"#)
        let long = Pattern(
            #"\.(?:executableT|testT|t)arget\(\s*name: "([\w-]+)",\s*dependencies: \[([^\]]*)\]"#
                + #"(?:,\s*path: "([^"]+)")?"#)
        let quoted = Pattern(#""(\w+)""#)
        func names(_ list: String) -> [String] { quoted.matches(in: list).map { $0[1] } }
        return short.matches(in: package).map { match in
            let isTest = match[1] == "tests"
            let name = match[2] + (isTest ? "Tests" : "")
            return Target(
                name: name, folder: (isTest ? "Tests/" : "Sources/") + name,
                declared: names(match[3]))
        }
            + long.matches(in: package).map { match in
                let usual = (match[1].hasSuffix("Tests") ? "Tests/" : "Sources/") + match[1]
                return Target(
                    name: match[1], folder: match[3].isEmpty ? usual : match[3],
                    declared: names(match[2]))
            }
    }()

    private static let importLine = Pattern(
        #"^(?:@\w+ )?(?:(?:public|package|internal|private) )?import (\w+)$"#)

    /// The modules that a file imports, by line.
    static func imports(of file: SwiftFile) -> [(line: Int, module: String)] {
        file.code.enumerated().compactMap { index, line in
            guard line.contains("import ") else { return nil }
            return importLine.matches(in: line).first.map { (index + 1, $0[1]) }
        }
    }

    /// Identifiers of a line of code, in order.
    private static func words(of line: String) -> [String] {
        line.utf8.split(whereSeparator: { !isWord($0) }).map { String(Substring($0)) }
    }

    /// Identifiers of a file's code, without those of its imports.
    private static func words(of file: SwiftFile) -> Set<String> {
        Set(file.code.lazy.filter { !$0.contains("import ") }.flatMap { words(of: $0) })
    }

    private static let declaring: Set<String> = [
        "struct", "enum", "class", "actor", "protocol", "func", "var", "let", "case", "typealias",
    ]

    /// What a file declares; on a line of cases, all that follows.
    static func names(of file: SwiftFile) -> Set<String> {
        var names: Set<String> = []
        for line in file.code {
            let words = words(of: line)
            guard let first = words.firstIndex(where: declaring.contains) else { continue }
            names.formUnion(words[(first + 1)...].prefix(words[first] == "case" ? .max : 2))
        }
        return names
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...:
            true
        default: false
        }
    }

    /// The imports of which a file names nothing: no identifier that the module declares.
    static func unused(
        in file: SwiftFile, of modules: [String: Set<String>]
    ) -> [(line: Int, module: String)] {
        let known = imports(of: file).filter { modules[$0.module] != nil }
        guard !known.isEmpty else { return [] }
        let words = words(of: file)
        return known.filter { modules[$0.module]?.isDisjoint(with: words) == true }
    }
}

@Suite struct `Dependencies and imports` {
    /// Built so that the tests can start the program; not imported.
    private static let programs = ["LogWriter"]

    @Test func `every declared dependency of a target is imported, and the reverse`() {
        let names = Set(Dependencies.targets.map(\.name))
        #expect(names.count > 50)
        for target in Dependencies.targets {
            let files = Repository.swift(in: target.folder)
            let imported = Set(files.flatMap(Dependencies.imports).map(\.module))
            for name in target.declared where !imported.contains(name) {
                if target.folder.hasPrefix("Tests/"), Self.programs.contains(name) { continue }
                Issue.record("Package.swift:1: \(target.name) imports no \(name). Take it out")
            }
            for name in imported.intersection(names) where !target.declared.contains(name) {
                Issue.record("Package.swift:1: \(target.name) imports \(name). Declare it")
            }
        }
    }

    @Test func `every imported module of ours has a name that the file uses`() {
        var modules: [String: Set<String>] = [:]
        for target in Dependencies.targets where target.folder.hasPrefix("Sources/") {
            modules[target.name] = Repository.swift(in: target.folder)
                .reduce(into: []) { $0.formUnion(Dependencies.names(of: $1)) }
        }
        for file in Repository.swift(in: "Sources", "Tests") {
            for found in Dependencies.unused(in: file, of: modules) {
                Issue.record("\(file.path):\(found.line): nothing of \(found.module) is named here")
            }
        }
    }

    @Test func `an import of which nothing is named is found`() {
        let modules = ["Values": Set(["UUID", "Timestamp"]), "JSON": Set(["JSONObject"])]
        let file = SwiftFile(
            path: "Sources/API/Some.swift",
            text: "import JSON\nimport Values\n\nlet id: UUID? = nil  // JSONObject\n")
        #expect(Dependencies.unused(in: file, of: modules).map(\.module) == ["JSON"])
        #expect(Dependencies.imports(of: file).map(\.line) == [1, 2])
    }
}
