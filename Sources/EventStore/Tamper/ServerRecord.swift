import JSON
public import Postgres
public import Telemetry

/// The servers that this node has met, kept beside its checkpoints: a node that starts again does not
/// take an old primary, which came back meanwhile, for the one that it wrote to.
///
/// One line each, `<system> <timeline>`, in the order in which they were met.
public struct ServerRecord: Sendable {
    private let path: String

    public init(directory: String) {
        path = "\(directory)/servers"
    }

    /// A fence that knows what is kept here.
    /// - Parameter isNode: what it sees is kept here too. A command that shares the node's settings
    ///   reads what the node saw, and leaves the node's folder alone.
    public func fence(isNode: Bool, log: Log = .silent) -> PrimaryFence {
        PrimaryFence { seen in
            do throws(CheckpointFile.Failure) {
                let kept = try read()
                guard isNode else { return kept }
                let merged = Self.merged(kept, seen)
                if merged != kept { try write(merged) }
                return merged
            } catch {
                // Loud, and no reason to stop serving: what this process sees still binds it.
                log.error("servers.file.failed", ["reason": .string(error.description)])
                return seen
            }
        }
    }

    /// Each system at its latest timeline, those that are kept first.
    static func merged(_ kept: [ServerHistory], _ seen: [ServerHistory]) -> [ServerHistory] {
        var merged = kept
        for one in seen {
            if let index = merged.firstIndex(where: { $0.system == one.system }) {
                if one.timeline > merged[index].timeline { merged[index] = one }
            } else {
                merged.append(one)
            }
        }
        return merged
    }

    func read() throws(CheckpointFile.Failure) -> [ServerHistory] {
        guard let content = try CheckpointFile.content(of: path) else { return [] }
        return String(decoding: content, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let system = Int64(words[0]), let timeline = Int32(words[1])
            else { return nil }
            return ServerHistory(system: system, timeline: timeline)
        }
    }

    private func write(_ servers: [ServerHistory]) throws(CheckpointFile.Failure) {
        let lines = servers.map { "\($0.system) \($0.timeline)\n" }.joined()
        try CheckpointFile.replace(path, with: Array(lines.utf8))
    }
}
