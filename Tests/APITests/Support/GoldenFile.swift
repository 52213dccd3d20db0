import Foundation
import Testing

/// A text in `Tests/APITests/golden` that changes only on purpose. With `URD_GOLDEN` the test writes
/// what there is now into that folder, for a look at the difference before it is committed.
struct GoldenFile {
    let name: String

    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let url = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "golden/\(name)")
        if let folder = ProcessInfo.processInfo.environment["URD_GOLDEN"] {
            try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name))
        }
        let expected = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        guard text != expected else { return }
        Issue.record(
            """
            Tests/APITests/golden/\(name) says something else:
            \(difference(text, expected))
            If that is meant, renew it:
            URD_GOLDEN=Tests/APITests/golden swift test --skip-build --enable-swift-testing --filter APITests
            """, sourceLocation: sourceLocation)
    }

    /// The lines that came and went, the first of many.
    private func difference(_ text: String, _ expected: String) -> String {
        let changes = text.components(separatedBy: "\n").difference(
            from: expected.components(separatedBy: "\n"))
        let lines = changes.prefix(40).map { change in
            switch change {
            case .insert(let offset, let line, _): "+ \(offset + 1): \(line)"
            case .remove(let offset, let line, _): "- \(offset + 1): \(line)"
            }
        }
        return lines.joined(separator: "\n")
    }
}
