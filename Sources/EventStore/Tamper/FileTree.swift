internal import Glibc

/// Writes files below a folder, making the folders on the way.
public struct FileTree: Sendable {
    public let root: String

    public init(root: String) {
        self.root = root
    }

    public func write(_ path: String, _ content: [UInt8]) throws(CheckpointFile.Failure) {
        var folder = root
        try make(folder)
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            try make(folder)
        }
        let file = open("\(root)/\(path)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw CheckpointFile.Failure(call: "open", code: errno) }
        defer { close(file) }
        try CheckpointFile.write(content, to: file)
    }

    private func make(_ folder: String) throws(CheckpointFile.Failure) {
        if mkdir(folder, 0o755) != 0, errno != EEXIST {
            throw CheckpointFile.Failure(call: "mkdir", code: errno)
        }
    }
}
