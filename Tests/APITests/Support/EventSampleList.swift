import Foundation
import Testing

/// The samples of `Tests/IdentityTests/golden/events.txt`: a line for each, with its type, and one or two
/// objects with a comma between them.
enum EventSampleList {
    static func lines() throws -> [String] {
        let list = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "IdentityTests/golden/events.txt")
        let parts = try String(contentsOf: list, encoding: .utf8).components(separatedBy: "\n\n")
        return try #require(parts.last).split(separator: "\n").map {
            $0.replacingOccurrences(of: "} {", with: "},{")
        }
    }
}
