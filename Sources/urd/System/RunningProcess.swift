import Glibc

/// Processes that we did not start ourselves in this run.
enum RunningProcess {
    static func exists(_ process: pid_t) -> Bool {
        kill(process, 0) == 0 || errno == EPERM
    }

    /// Every process that works in a folder. PostgreSQL's processes all work in their data folder,
    /// so this tells who still uses a cluster more surely than a number in a file, which may since
    /// belong to another program.
    static func inFolder(_ folder: String) -> [pid_t] {
        guard let real = realPath(folder) else { return [] }
        let numbers = ((try? File.names(in: "/proc")) ?? []).compactMap { pid_t($0) }
        return numbers.filter { $0 != getpid() && workingFolder(of: $0) == real }.sorted()
    }

    private static func workingFolder(of process: pid_t) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(process)/cwd", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func realPath(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
