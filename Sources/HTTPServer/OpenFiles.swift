internal import Glibc

/// How many files and sockets this process may open.
public enum OpenFiles {
    /// For all but connections: the database, calls to others, files, what the runtime needs. Where
    /// these find none left, much more than one connection fails.
    private static let reserve = 256

    /// With fewer files than this nothing is left for connections, or for what lies behind them.
    public static let least = reserve + 64

    /// Raises the limit as far as the system lets us, as long-running programs may: what shells set is
    /// for programs that still use `select`. Returns the limit that holds.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if unsafe setrlimit(kind, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Of each of two listeners.
    static var forConnections: Int { max(16, (raise() - reserve) / 2) }
}
