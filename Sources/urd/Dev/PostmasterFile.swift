/// `postmaster.pid`, in which a server says how far it is (its lines: PostgreSQL's `pidfile.h`).
struct PostmasterFile: Equatable, Sendable {
    let process: Int32
    let socketFolder: String?
    let isReady: Bool

    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.first, let process = Int32(first.prefix(while: { $0 != " " }))
        else {
            return nil
        }
        self.process = process
        socketFolder = lines.count > 4 && !lines[4].isEmpty ? String(lines[4]) : nil
        isReady = lines.count > 7 && lines[7].hasPrefix("ready")
    }

    static func read(in data: String) -> PostmasterFile? {
        guard let text = try? File.text(data + "/postmaster.pid") else { return nil }
        return PostmasterFile(text)
    }
}
