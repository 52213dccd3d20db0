import Foundation

/// The house rules that look at one file, as functions from text to findings.
enum Rules {
    // MARK: - Imports

    /// Who may import whom. `Package.swift` says it too, but only for modules of ours: this is the
    /// place that knows which layers may speak to the system.
    static let layers: [String: Set<String>] = [
        "Values": [],
        "JSON": [],
        "HTTP": ["Values"],
        "HTML": [],
        "Mail": ["Values", "HTTP", "HTML"],
        "EventSourcing": ["Values", "JSON"],
        "Laws": ["Values", "JSON"],
        "Identity": ["Values", "JSON", "EventSourcing"],
        "Telemetry": ["Values", "JSON", "Glibc"],
        "Threads": ["Glibc"],
        "Postgres": ["CPostgres", "Threads", "Glibc"],
        "Cryptography": ["COpenSSL", "Glibc"],
        "HTTPServer": ["CMicroHTTPD", "HTTP", "Threads", "Glibc"],
        "HTTPClient": ["CCurl", "HTTP", "Threads", "Glibc"],
        "Systemd": ["CSystemd", "Glibc"],
        "SecurityKeys": ["CCBOR", "Values", "JSON", "Cryptography"],
        "Compression": ["CZlib"],
        "YAML": ["CYAML", "JSON"],
        "QRCode": ["CQREncode"],
        "PhoneNumbers": ["CPhoneNumber"],
        "MaxMind": ["CMaxMind", "Glibc"],
        "SAML": ["CXMLSec", "Values", "Cryptography"],
        "ForeignHashes": ["CCrypt", "CArgon2", "Values", "Cryptography"],
        "JOSE": ["Values", "JSON", "Cryptography"],
        "OneTimeCodes": ["Values", "HTTP", "Cryptography"],
        "EventStore": [
            "Values", "JSON", "EventSourcing", "Laws", "Telemetry", "Threads", "Postgres",
            "Cryptography", "Glibc",
        ],
        "ReadModels": [
            "Values", "JSON", "EventSourcing", "Identity", "Telemetry", "Threads", "Postgres",
            "EventStore", "Glibc",
        ],
        "API": [
            "Values", "JSON", "HTTP", "EventSourcing", "Identity", "Telemetry", "Cryptography",
            "Compression", "ForeignHashes", "HTML", "JOSE", "Mail", "OneTimeCodes", "PhoneNumbers",
            "QRCode",
            "ReadModels",
            "SAML",
            "SecurityKeys",
        ],
        // What apps take in: they have Foundation and know nothing of our modules.
        "UrdClient": ["Foundation", "FoundationNetworking"],
        "urd": [
            "Values", "JSON", "HTTP", "EventSourcing", "Identity", "Laws", "Telemetry",
            "Postgres", "Cryptography", "ForeignHashes", "HTML", "JOSE", "Mail", "HTTPServer", "HTTPClient",
            "Systemd",
            "EventStore", "ReadModels", "API", "SecurityKeys", "Threads", "Glibc", "CBuild",
            "MaxMind", "YAML",
        ],
    ]

    /// Locks and atomics are part of the language's own library.
    /// The standard library is imported everywhere anyway.
    private static let everywhere: Set<String> = ["Swift", "Synchronization"]

    private static let importLine = Pattern(
        #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |fileprivate |private )?"#
            + #"import (?:(?:struct|class|enum|func|protocol|var|let|typealias) )?(\w+)"#)

    static func imports(_ file: SwiftFile) -> [Finding] {
        guard let allowed = layers[file.module] else {
            return [
                Finding(
                    path: file.path, line: 1, what: "unknown module '\(file.module)'",
                    remedy: "Add it to the layers in Tests/TidyTests/Rules.swift")
            ]
        }
        return lines(of: file).compactMap { number, line in
            guard let module = importLine.matches(in: line).first?[1],
                !allowed.contains(module), !everywhere.contains(module)
            else { return nil }
            let remedy =
                module == "Foundation"
                ? "Use the pure ring (Values, JSON, HTTP), or Glibc in a wrapper"
                : "Its layer may import \(allowed.sorted().joined(separator: ", ")); "
                    + "let the composition root hand in what else it needs"
            return Finding(
                path: file.path, line: number, what: "\(file.module) imports \(module)",
                remedy: remedy)
        }
    }

    // MARK: - Bans

    private static let bans: [(pattern: Pattern, what: String, remedy: String)] = [
        (Pattern(#"\btry!"#), "try!", "Handle the error, or throw it on"),
        (Pattern(#"\bas!"#), "as!", "Use as? and say what happens otherwise"),
        (
            Pattern(#"[\w)\]](?<!\btry)(?<!\bas)!(?![=\w])"#), "a forced unwrap",
            "Use guard let, ??, or precondition with a sentence: input must never end the process"
        ),
        (
            Pattern(#"(?<![.\w])(?:print|debugPrint|dump)\("#), "printing",
            "Write results through Console and events through Log"
        ),
        (
            Pattern(#"\bfatalError\("#), "fatalError",
            "Use precondition(…, \"sentence\") for our bugs, and an error for everything else"
        ),
        (Pattern(#"\bDate\(\)"#), "the wall clock", "Take a Timestamp as an argument"),
    ]

    /// Wrappers hold what C gave them, and are compiled with `.strictMemorySafety()`.
    private static let wrappers: Set<String> = [
        "Threads", "Postgres", "Cryptography", "HTTPServer", "HTTPClient", "Systemd", "QRCode",
        "Compression", "SecurityKeys", "PhoneNumbers", "SAML", "MaxMind", "ForeignHashes", "YAML",
    ]

    private static let bansOutsideWrappers: [(pattern: Pattern, what: String, remedy: String)] = [
        (
            Pattern(#"nonisolated\(unsafe\)"#), "nonisolated(unsafe)",
            "Guard it by a Mutex, or make it immutable"
        ),
        (
            Pattern(#"@unchecked\s+Sendable"#), "@unchecked Sendable",
            "Put what changes in a Mutex: then the compiler can check it"
        ),
    ]

    static func bans(_ file: SwiftFile) -> [Finding] {
        var findings: [Finding] = []
        let bans = bans + (wrappers.contains(file.module) ? [] : bansOutsideWrappers)
        for (number, line) in lines(of: file) {
            for ban in bans where ban.pattern.isFound(in: line) {
                findings.append(
                    Finding(path: file.path, line: number, what: ban.what, remedy: ban.remedy))
            }
        }
        return findings + leftovers(file)
    }

    private static let leftover = Pattern(#"//.*\b(?:TODO|FIXME|XXX)\b"#)

    private static func leftovers(_ file: SwiftFile) -> [Finding] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            guard leftover.isFound(in: String(line)) else { return nil }
            return Finding(
                path: file.path, line: index + 1, what: "an unfinished thing in the code",
                remedy: "Do it, or write it down under docs/")
        }
    }

    // MARK: - Paths

    private static let askedPath = Pattern(
        #"request\.path\s*[=!]=|request\.path\.(?:utf8\.)?(?:starts|has|contains|drop)|\(request\.path\)\s*(?:\{|&&|\|\|)"#
            + #"|contains\(request\.path\)|switch request\.path"#)

    /// Which route was called is known by its traits: a path that is renamed must not lose a property.
    static func paths(_ file: SwiftFile) -> [Finding] {
        guard file.module == "API", !file.path.hasPrefix("Sources/API/Web/") else { return [] }
        return lines(of: file).compactMap { number, line in
            guard askedPath.isFound(in: line) else { return nil }
            return Finding(
                path: file.path, line: number, what: "compares a request's path",
                remedy: "Give the route a trait, and ask for that")
        }
    }

    private static let askedProfile = Pattern(
        #"\[(?:SettingCatalogue)?\.profile\]|\.profile\s*[=!]="#)
    /// Each fills in what its profile changes.
    private static let ofProfiles: Set<String> = ["RealmRules", "ClientRules"]

    /// What a profile changes has a name: a rule of `RealmRules` or `ClientRules`.
    static func profiles(_ file: SwiftFile) -> [Finding] {
        guard !ofProfiles.contains(file.name) else { return [] }
        return lines(of: file).compactMap { number, line in
            guard askedProfile.isFound(in: line) else { return nil }
            return Finding(
                path: file.path, line: number, what: "asks which profile it is",
                remedy: "Ask for a rule by name, and have the profile fill it in")
        }
    }

    // MARK: - Sizes

    static let longestFile = 400
    static let longestFunction = 70

    static func size(_ file: SwiftFile) -> [Finding] {
        var findings: [Finding] = []
        if file.lineCount > longestFile {
            findings.append(
                Finding(
                    path: file.path, line: longestFile, what: "\(file.lineCount) lines in a file",
                    remedy: "One concept each: split it below \(longestFile), better 250"))
        }
        for (name, line, length) in functions(file) where length > longestFunction {
            findings.append(
                Finding(
                    path: file.path, line: line, what: "\(name) has \(length) lines",
                    remedy: "One function owns the flow, leaves are pure: at most "
                        + "\(longestFunction)"))
        }
        return findings
    }

    private static let declaration = Pattern(#"(?:^|\s)(func\s+[^\s(<]+|init[?(<]|deinit\s)"#)

    /// Each function with the line it begins on and its length, from its name to its last brace.
    static func functions(_ file: SwiftFile) -> [(name: String, line: Int, length: Int)] {
        var found: [(name: String, line: Int, length: Int)] = []
        for (number, line) in lines(of: file) {
            // A call such as `.init(…)` or `self.init(` declares nothing.
            guard let match = declaration.matches(in: line).first else { continue }
            if let last = lastLine(of: file, from: number) {
                let name = match[1].trimmingCharacters(in: .whitespaces)
                found.append((name.hasPrefix("init") ? "init" : name, number, last - number + 1))
            }
        }
        return found
    }

    /// Where the first brace after a line closes; nil where a declaration has no body.
    private static func lastLine(of file: SwiftFile, from first: Int) -> Int? {
        var braces = 0
        var others = 0
        for number in first...max(first, file.code.count) where number <= file.code.count {
            for byte in file.code[number - 1].utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["): others += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): others -= 1
                case UInt8(ascii: "{") where others == 0: braces += 1
                case UInt8(ascii: "}") where others == 0:
                    braces -= 1
                    if braces <= 0 { return braces < 0 ? nil : number }
                default: break
                }
            }
            // A requirement of a protocol ends with its line, or with the line of its brackets.
            if braces == 0, others == 0, !continues(file, number) { return nil }
        }
        return nil
    }

    private static func continues(_ file: SwiftFile, _ number: Int) -> Bool {
        guard number < file.code.count else { return false }
        let next = file.code[number].trimmingCharacters(in: .whitespaces)
        return ["{", "->", "throws", "async", "where", ")"].contains { next.hasPrefix($0) }
    }

    static func lines(of file: SwiftFile) -> [(number: Int, line: String)] {
        file.code.enumerated().map { ($0.offset + 1, $0.element) }
    }
}
