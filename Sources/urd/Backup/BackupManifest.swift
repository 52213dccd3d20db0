import Cryptography
import JSON
import Values

/// What a backup has in it: each file with its size and its sum, and how far each realm's log was when it began.
struct BackupManifest: Equatable, Sendable {
    struct Part: Equatable, Sendable {
        /// Its path in the folder of the backup.
        let name: String
        let size: Int64
        let sha256: String
    }

    static let file = "manifest.json"
    private static let format: Int64 = 1

    /// The moment at which the backup began, by the database.
    let at: Timestamp
    /// The program that wrote it.
    let program: String
    let schema: Int
    let isEncrypted: Bool
    /// Positions that the log has at least, by realm.
    let realms: [String: Int64]
    let parts: [Part]

    var bytes: Int64 { parts.reduce(0) { $0 + $1.size } }

    /// The whole file. Its last sum is that of all other members, so that a change of the manifest itself shows.
    var written: [UInt8] {
        var members = self.members
        members["manifest_sha256"] = .string(Self.sum(of: members))
        return JSON.object(members).canonical() + [10]
    }

    var members: JSONObject {
        [
            "format": .integer(Self.format), "at": .string(at.description),
            "program": .string(program), "schema": .integer(Int64(schema)),
            "encrypted": .bool(isEncrypted),
            "realms": .object(JSONObject(realms.map { ($0.key, .integer($0.value)) })),
            "files": .array(
                parts.map {
                    [
                        "name": .string($0.name), "size": .integer($0.size),
                        "sha256": .string($0.sha256),
                    ]
                }),
        ]
    }

    private static func sum(of members: JSONObject) -> String {
        Hex.encode(SHA256.hash(JSON.object(members).canonical()))
    }
}

// MARK: - Reading

extension BackupManifest {
    /// Nil where the bytes are not, to the last one, what was written.
    init?(_ bytes: [UInt8]) {
        let limits = JSON.Limits(size: 16 << 20)
        guard let read = try? JSON.parse(bytes, limits: limits), case .object(var members) = read,
            let sum = members["manifest_sha256"]?.string
        else { return nil }
        members["manifest_sha256"] = nil
        guard Self.sum(of: members) == sum, members["format"]?.integer == Self.format,
            let at = members["at"]?.string.flatMap({ Timestamp(rfc3339: $0) }),
            let program = members["program"]?.string,
            let schema = members["schema"]?.integer, let isEncrypted = members["encrypted"]?.bool,
            let realms = members["realms"]?.object, let files = members["files"]?.array
        else { return nil }
        self.at = at
        self.program = program
        self.schema = Int(schema)
        self.isEncrypted = isEncrypted
        self.realms = Dictionary(
            realms.compactMap { name, position in position.integer.map { (name, $0) } },
            uniquingKeysWith: { $1 })
        parts = files.compactMap { file in
            guard let name = file["name"]?.string, let size = file["size"]?.integer,
                let sum = file["sha256"]?.string, Self.isInside(name)
            else { return nil }
            return Part(name: name, size: size, sha256: sum)
        }
        guard parts.count == files.count, written == bytes else { return nil }
    }

    /// A name that leads out of the folder is none that was written.
    private static func isInside(_ name: String) -> Bool {
        !name.hasPrefix("/") && !name.split(separator: "/").contains("..")
    }
}
