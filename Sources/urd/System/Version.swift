import CBuild

enum Version {
    static let number = "0.1.0"

    /// The commit and its day: `346a8ffd1c2b, 2026-11-25`; empty where the build was not told of one.
    static let commit = String(cString: build_commit())

    /// `0.1.0 (346a8ffd1c2b, 2026-11-25)`; the number alone where the build was not told of a commit.
    static let text = label(commit: commit)

    static func label(commit: String) -> String {
        commit.isEmpty ? number : "\(number) (\(commit))"
    }
}
