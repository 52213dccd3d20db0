import Glibc

/// What the kernel says of this process.
struct ProcessFigures: Equatable, Sendable {
    /// In user and system mode, since it began.
    let cpuSeconds: Double
    let residentBytes: Double
    let virtualBytes: Double
    let openFiles: Double
    let mostFiles: Double
    let threads: Double
    /// Seconds since 1970.
    let startTime: Double

    /// Nil where `/proc` does not say.
    static func read() -> ProcessFigures? {
        guard let stat = try? File.text("/proc/self/stat"),
            let machine = try? File.text("/proc/stat"),
            let files = try? File.names(in: "/proc/self/fd")
        else { return nil }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return ProcessFigures(
            stat: stat, machine: machine, openFiles: files.count, mostFiles: Double(limit.rlim_cur),
            ticks: Double(sysconf(Int32(_SC_CLK_TCK))), page: Double(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// - Parameters:
    ///   - stat: `/proc/self/stat`, as proc(5) describes it.
    ///   - machine: `/proc/stat`, which has the time of the machine's start.
    init?(
        stat: String, machine: String, openFiles: Int, mostFiles: Double, ticks: Double,
        page: Double
    ) {
        // The name of the program may have spaces and brackets in it.
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
            .map { Double($0) ?? 0 }
        let boot = machine.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard fields.count > 21, let boot = boot.flatMap({ Double($0.dropFirst(6)) }) else {
            return nil
        }
        cpuSeconds = (fields[11] + fields[12]) / ticks
        threads = fields[17]
        startTime = boot + fields[19] / ticks
        virtualBytes = fields[20]
        residentBytes = fields[21] * page
        self.openFiles = Double(openFiles)
        self.mostFiles = mostFiles
    }
}
