import Glibc

/// The variables of this process, as they were when it started.
struct Environment: Equatable, Sendable {
    private let values: [String: String]

    init(_ values: [String: String]) {
        self.values = values
    }

    /// Read from the kernel and not through `environ`, which is shared mutable memory.
    static func ofThisProcess() -> Environment {
        var values: [String: String] = [:]
        let bytes = (try? File.bytes("/proc/self/environ")) ?? []
        for entry in bytes.split(separator: 0) {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: entry[..<equals], as: UTF8.self)
            values[name] = String(decoding: entry[(equals + 1)...], as: UTF8.self)
        }
        return Environment(values)
    }

    /// A variable that is set to nothing counts as not set, as it does in unit files and shells.
    subscript(name: String) -> String? {
        guard let value = values[name], !value.isEmpty else { return nil }
        return value
    }

    var names: [String] { Array(values.keys) }
}
