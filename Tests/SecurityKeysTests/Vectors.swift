import Values

/// The test vectors of Web Authentication Level 3, section 16 (W3C): each a key that is registered
/// and used once.
struct Vector: Sendable, CustomStringConvertible {
    let name: String
    let values: [String: [UInt8]]

    var description: String { name }

    func value(_ name: String) -> [UInt8] { values[name] ?? [] }

    static let root: [UInt8] = lines.first { $0.name == "attestation_ca_cert" }?.value ?? []

    static let all = read(level3)

    /// What real devices made.
    static let devices = read(String(decoding: PackageResources.devices_txt, as: UTF8.self))

    /// What real devices made of App Attest.
    static let appAttest = read(String(decoding: PackageResources.appattest_txt, as: UTF8.self))

    private static func read(_ text: String) -> [Vector] {
        var vectors: [Vector] = []
        var name = ""
        var values: [String: [UInt8]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 2 else { continue }
            if words[0] == "name" {
                if !values.isEmpty { vectors.append(Vector(name: name, values: values)) }
                name = String(words[1])
                values = [:]
            } else if !name.isEmpty {
                values[String(words[0])] = Hex.decode(String(words[1])) ?? []
            }
        }
        vectors.append(Vector(name: name, values: values))
        return vectors
    }

    static func named(_ name: String) throws -> Vector {
        guard let vector = all.first(where: { $0.name == name }) else { throw Missing() }
        return vector
    }

    struct Missing: Error {}

    private static let level3 = String(decoding: PackageResources.level3_txt, as: UTF8.self)

    private static let lines: [(name: String, value: [UInt8])] =
        level3.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Hex.decode(String(words[1])) else { return nil }
            return (String(words[0]), value)
        }
}
