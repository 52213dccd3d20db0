import Glibc
import HTTP
import HTTPClient
import Identity
import JSON
import MaxMind
import Synchronization
import Telemetry
import Threads

/// The operator's databases of addresses, as the files are now. A file that is replaced is read anew; while it
/// cannot be read, what was read before is used. To ask them never waits for a file.
final class GeoDatabases: Sendable {
    /// What tells one state of a file from another.
    private struct Stamp: Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private struct File {
        let path: String
        var database: GeoDatabase?
        /// The stamp of the file that was read, or refused, last.
        var stamp: Stamp?
        var isMissing = false
    }

    private let files: Mutex<[File]>
    private let lines: Log
    private let built: Family<Gauge>
    private let refused: Counter

    init(_ paths: [String], lines: Log, metrics: Metrics) {
        files = Mutex(paths.map { File(path: $0) })
        self.lines = lines
        built = metrics.gauge(
            "urd_geo_database_built_timestamp_seconds",
            help: "When the database of addresses was made that is in use.", labels: ["path"])
        refused = metrics.counter(
            "urd_geo_database_refused_total",
            help: "States of files that were not taken as a database of addresses.")
    }

    static func paths(_ settings: Settings) -> [String] {
        (settings[Settings.geoDatabase] ?? "").split(separator: ",").map(String.init)
    }

    /// Nil of addresses that are not public, and of those that no file knows.
    func location(of address: IPAddress) -> GeoLocation? {
        guard let bytes = Destinations.publicBytes(of: address) else { return nil }
        let databases = files.withLock { $0.compactMap(\.database) }
        let entries = databases.compactMap { $0.entry(of: bytes) }
        // A city and its coordinates are of one file: together they are a place.
        let placed = entries.first { $0.coordinates != nil } ?? entries.first { $0.city != nil }
        let country = placed?.country ?? entries.lazy.compactMap(\.country).first
        let asn = entries.lazy.compactMap(\.asn).first
        guard placed != nil || country != nil || asn != nil else { return nil }
        return GeoLocation(
            country: country, asn: asn, city: placed?.city,
            coordinates: placed?.coordinates.flatMap {
                GeoCoordinates(latitude: $0.latitude, longitude: $0.longitude)
            })
    }

    /// Follows the files until the task is cancelled.
    func run() async throws {
        let count = files.withLock(\.count)
        while true {
            for index in 0..<count { await look(at: index) }
            try await Task.sleep(for: .seconds(count == 0 ? 3600 : 2))
        }
    }

    private func look(at index: Int) async {
        let (path, known, wasMissing) = files.withLock {
            ($0[index].path, $0[index].stamp, $0[index].isMissing)
        }
        guard let stamp = Self.stamp(of: path) else {
            if !wasMissing { refuse("\(GeoDatabase.Failure.unreadable(code: errno))", path) }
            files.withLock { $0[index].isMissing = true }
            return
        }
        guard stamp != known || wasMissing else { return }
        do {
            let database = try await DedicatedThread.run { try GeoDatabase(path: path) }
            files.withLock {
                $0[index].database = database
                $0[index].stamp = stamp
                $0[index].isMissing = false
            }
            built[path].set(Double(database.builtAt))
            lines.notice(
                "geo.database_read",
                [
                    "path": .string(path), "type": .string(database.type),
                    "built_at": .integer(database.builtAt),
                ])
        } catch {
            // The process that writes to it goes on, and it is looked at again.
            if error as? GeoDatabase.Failure == .changing { return }
            files.withLock {
                $0[index].stamp = stamp
                $0[index].isMissing = false
            }
            refuse("\(error)", path)
        }
    }

    private func refuse(_ why: String, _ path: String) {
        refused.add()
        lines.error(
            "geo.database_refused",
            [
                "path": .string(path), "why": .string(why),
                "in_use": .bool(
                    files.withLock { files in
                        files.contains { $0.path == path && $0.database != nil }
                    }),
            ])
    }

    private static func stamp(of path: String) -> Stamp? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return Stamp(
            inode: UInt64(facts.st_ino), size: Int64(facts.st_size),
            seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
    }
}
