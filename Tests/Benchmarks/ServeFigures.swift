import Glibc
import PostgresTesting

/// `urd serve` as a process: what it holds, and how soon it is there.
enum ServeFigures {
    private static let bars: (memory: Double, start: Double) = (30, 200)
    private static let ports: (open: Int, inner: Int) = (18_080, 18_081)

    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        guard let binary = findBinary() else {
            let why = "Not measured: there is no urd beside this program (`make build` makes it)."
            return [
                memory(nil, nil, note: why), start(nil, nil, note: why),
            ]
        }
        let store = try workshop.bed.makeStore()
        defer { store.close() }
        // A log that has been used, so that there are keys and positions to load.
        _ = try await AppendLoad(log: store.log, realm: store.realm).run(seconds: 1)
        let keyFile = "\(store.database.cluster.folder)/bench-master-key"
        try write(store.master, to: keyFile)
        let count = workshop.size(short: 5, full: 15)
        workshop.progress.begin("serve", rounds: count)
        var sizes: [Double] = []
        var limits: [Double] = []
        let rounds = try await Rounds.run(count, workshop.progress) {
            let serving = try Program.start(
                [binary, "serve"], environment: environment(store, keyFile), log: "\(keyFile).log")
            defer { serving.end() }
            let took = try await waitUntilReady(serving)
            try await Task.sleep(for: .seconds(2))
            if let size = ownMegabytes(serving.id) { sizes.append(size) }
            return took
        } limit: {
            let psql = try Program.start(
                ["psql", "-c", "select pg_sleep(1)", store.database.application],
                environment: ["PATH": "/usr/bin:/bin"])
            try await Task.sleep(for: .milliseconds(500))
            if let size = ownMegabytes(psql.id) { limits.append(size) }
            psql.end()
            return try seconds {
                try Program(["psql", "-c", "select 1", store.database.application]).run()
            } * 1000
        }
        return [
            memory(sizes.median, limits.median),
            start(rounds.medians.value, rounds.medians.limit),
        ]
    }

    private static func memory(_ value: Double?, _ limit: Double?, note: String? = nil) -> Figure {
        Figure(
            "memory", "memory of urd serve's own while idle", value, "MB",
            limit: limit.map { .init(name: "psql, waiting for an answer", value: $0) },
            bar: .atMost(bars.memory), note: note)
    }

    private static func start(_ value: Double?, _ limit: Double?, note: String? = nil) -> Figure {
        Figure(
            "start", "urd serve from start to ready on a migrated database", value, "ms",
            limit: limit.map { .init(name: "psql: start, one answer, end", value: $0) },
            bar: .atMost(bars.start), note: note)
    }

    /// Beside this program.
    static func findBinary() -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        guard length > 0 else { return nil }
        let own = String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let binary = own[...slash] + "urd"
        return access(String(binary), X_OK) == 0 ? String(binary) : nil
    }

    private static func environment(_ store: Store, _ keyFile: String) -> [String: String] {
        let host = store.database.cluster.folder.split(separator: "/").joined(separator: "%2F")
        return [
            "PATH": "/usr/bin:/bin",
            "URD_DATABASE_URL": "postgresql://urd_app@%2F\(host)/\(store.database.name)",
            "URD_MASTER_KEY_FILE": keyFile,
            "URD_LISTEN_PORT": String(ports.open),
            "URD_PRIVATE_PORT": String(ports.inner),
        ]
    }

    private static func write(_ key: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        guard file >= 0,
            key.withUnsafeBytes({ Glibc.write(file, $0.baseAddress, $0.count) }) == key.count
        else { throw BenchmarkFailure("\(path) cannot be written.") }
    }

    /// Milliseconds from now until it says that it is ready.
    private static func waitUntilReady(_ serving: Program.Running) async throws -> Double {
        let started = ContinuousClock.now
        while ContinuousClock.now - started < .seconds(20), serving.isRunning {
            if PlainHTTP.status(of: "/health/ready", port: UInt16(ports.inner)) == 200 {
                return (ContinuousClock.now - started) / .milliseconds(1)
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw BenchmarkFailure("urd serve did not become ready.")
    }

    private static func ownMegabytes(_ process: pid_t) -> Double? {
        guard let status = try? Program(["cat", "/proc/\(process)/status"]).run(),
            let kilobytes = status.replacingTabs.number(after: "RssAnon:")
        else { return nil }
        return kilobytes / 1024
    }
}

extension String {
    fileprivate var replacingTabs: String { String(map { $0 == "\t" ? " " : $0 }) }
}
