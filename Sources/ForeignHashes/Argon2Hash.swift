internal import CArgon2
internal import Cryptography

/// Argon2 (RFC 9106): `$argon2id$v=19$m=65536,t=3,p=4$salt$key`.
struct Argon2Hash: HashScheme {
    static let prefixes = ["$argon2id$", "$argon2i$", "$argon2d$"]
    /// KiB times passes: a GiB is worked through in about a second.
    private static let work = 1 << 20
    private static let mostLanes = 64
    /// In KiB.
    private static let mostMemory = 128 << 10

    private let type: Int32
    private let version: UInt32
    private let memory: UInt32
    private let passes: UInt32
    private let lanes: UInt32
    private let salt: [UInt8]
    private let key: [UInt8]

    init(_ text: String) throws(ForeignHash.Fault) {
        var fields = HashText.fields(text).dropFirst()
        switch fields.popFirst() {
        case "argon2d": type = 0
        case "argon2i": type = 1
        default: type = 2
        }
        var version = 0x10
        if let first = fields.first, first.hasPrefix("v=") {
            guard let number = HashText.number(first.dropFirst(2)), [0x10, 0x13].contains(number)
            else { throw .malformed }
            version = number
            fields = fields.dropFirst()
        }
        guard fields.count == 3, let first = fields.popFirst(),
            let costs = HashText.parameters(first), costs.count == 3, let memory = costs["m"],
            let passes = costs["t"], let lanes = costs["p"],
            let salt = fields.popFirst().flatMap({ HashText.bytes($0) }),
            let key = fields.popFirst().flatMap({ HashText.bytes($0) }),
            (8...HashBounds.salt.upperBound).contains(salt.count),
            HashBounds.output.contains(key.count), passes > 0, lanes > 0
        else { throw .malformed }
        guard memory <= Self.mostMemory, passes <= Self.work, memory * passes <= Self.work,
            lanes <= Self.mostLanes
        else { throw .tooExpensive }
        guard memory >= 8 * lanes else { throw .malformed }
        self.version = UInt32(version)
        (self.memory, self.passes, self.lanes) = (UInt32(memory), UInt32(passes), UInt32(lanes))
        (self.salt, self.key) = (salt, key)
    }

    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        var room = [UInt8](repeating: 0, count: key.count)
        let done = unsafe passphrase.withUnsafeBytes { bytes in
            unsafe shim_argon2(
                bytes.baseAddress, bytes.count, salt, salt.count, memory, passes, lanes, version,
                type, &room, room.count)
        }
        guard done == 1 else { throw .library }
        return constantTimeEqual(room, key)
    }
}
