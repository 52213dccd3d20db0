import Foundation

/// The house rules for SQL, in files and in the strings of Swift.
enum SQLRules {
    /// The tables that hold the log, as read models name it too: one tenant must never meet another's rows.
    private static let touched = Pattern(
        #"(?i)\b(?:from|join|into|update|using)\s+(?:only\s+)?"#
            + #"(urd\.(?:event|stream|claim|command|realm_log)\b(?!_)|\{log\})"#)
    private static let realm = Pattern(#"(?i)\brealm\b|\bp_realm\b"#)

    static func statements(inFile text: String) -> [(line: Int, text: String)] {
        var found: [(Int, String)] = []
        var line = 1
        var start = 1
        var statement = ""
        for character in withoutComments(text) {
            if character == "\n" { line += 1 }
            if character == ";" {
                found.append((start, statement))
                statement = ""
            } else if !statement.isEmpty || !character.isWhitespace {
                if statement.isEmpty { start = line }
                statement.append(character)
            }
        }
        if !statement.isEmpty { found.append((start, statement)) }
        return found
    }

    private static func withoutComments(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.range(of: "--").map { String(line[..<$0.lowerBound]) } ?? String(line)
        }.joined(separator: "\n")
    }

    static func namesRealm(_ statements: [(line: Int, text: String)], path: String) -> [Finding] {
        statements.compactMap { line, text in
            guard let match = touched.matches(in: text).first, !realm.isFound(in: text) else {
                return nil
            }
            return Finding(
                path: path, line: line, what: "a statement touches \(match[1]) without realm",
                remedy: "Every key, WHERE and JOIN of the log has realm in it")
        }
    }

    static func file(path: String, text: String) -> [Finding] {
        var findings = namesRealm(statements(inFile: text), path: path)
        if !text.hasPrefix("-- ") {
            findings.append(
                Finding(
                    path: path, line: 1, what: "SQL without a word on why it exists",
                    remedy: "Begin with a comment: -- …"))
        }
        let lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        if lineCount > Rules.longestFile {
            findings.append(
                Finding(
                    path: path, line: Rules.longestFile, what: "\(lineCount) lines in a file",
                    remedy: "One concept each: split it below \(Rules.longestFile)"))
        }
        let name = path.split(separator: "/").last ?? ""
        if name.first?.isLetter != true {
            findings.append(
                Finding(
                    path: path, line: 1, what: "a file name that is no Swift name",
                    remedy: "It is embedded under its name: begin with a letter"))
        }
        return findings
    }

    static func strings(of file: SwiftFile) -> [Finding] {
        namesRealm(file.literals.map { ($0.line, $0.text) }, path: file.path)
    }
}
