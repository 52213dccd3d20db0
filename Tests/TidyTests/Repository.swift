import Foundation
import Synchronization

/// What a rule found, and how to mend it.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let what: String
    let remedy: String

    var description: String { "\(path):\(line): \(what). \(remedy)" }
}

/// The files of the repository, by path from its root.
enum Repository {
    /// Found from this file's real place, so that it doesn't matter where the tests are started.
    static let root: URL = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What is made by tools or is no text of ours.
    private static let skipped: Set<String> = [".git", ".build", ".swiftpm", ".dev", "__pycache__"]

    static let paths: [String] = {
        var found: [String] = []
        let walker = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: [.isRegularFileKey, .isSymbolicLinkKey])
        let prefix = root.path(percentEncoded: false).drop(while: { $0 != "/" })
        while let url = walker?.nextObject() as? URL {
            if skipped.contains(url.lastPathComponent) {
                walker?.skipDescendants()
                continue
            }
            let facts = try? url.resourceValues(forKeys: [.isRegularFileKey, .isSymbolicLinkKey])
            guard facts?.isRegularFile == true, facts?.isSymbolicLink != true else { continue }
            var path = url.path(percentEncoded: false)
            path.removeFirst(min(path.count, prefix.count))
            found.append(path.hasPrefix("/") ? String(path.dropFirst()) : path)
        }
        return found.sorted()
    }()

    static func text(_ path: String) -> String {
        let bytes = (try? Data(contentsOf: root.appending(path: path))) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }

    static func swift(in folders: String...) -> [SwiftFile] {
        paths.filter { path in
            path.hasSuffix(".swift") && folders.contains { path.hasPrefix($0 + "/") }
        }.map(swiftFile)
    }

    /// Read and taken apart once for all rules: that costs more than the rules.
    private static func swiftFile(_ path: String) -> SwiftFile {
        if let known = swiftFiles.withLock({ $0[path] }) { return known }
        let file = SwiftFile(path: path, text: text(path))
        swiftFiles.withLock { $0[path] = file }
        return file
    }

    private static let swiftFiles = Mutex<[String: SwiftFile]>([:])

    static func files(in folder: String, suffix: String) -> [(path: String, text: String)] {
        paths.filter { $0.hasPrefix(folder + "/") && $0.hasSuffix(suffix) }.map { ($0, text($0)) }
    }
}

/// A regular expression that is used often.
struct Pattern: Sendable {
    private let expression: NSRegularExpression

    init(_ pattern: String) {
        // A pattern is a literal of these tests: one that is wrong is found by the first run.
        guard let expression = try? NSRegularExpression(pattern: pattern) else {
            preconditionFailure("A pattern is a regular expression.")
        }
        self.expression = expression
    }

    /// Each match as its groups: the whole first.
    func matches(in text: String) -> [[String]] {
        let range = NSRange(text.startIndex..., in: text)
        return expression.matches(in: text, range: range).map { match in
            (0..<match.numberOfRanges).map { group in
                Range(match.range(at: group), in: text).map { String(text[$0]) } ?? ""
            }
        }
    }

    func isFound(in text: String) -> Bool {
        let range = NSRange(text.startIndex..., in: text)
        return expression.firstMatch(in: text, range: range) != nil
    }
}
