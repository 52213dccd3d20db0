import Identity
import Values

let client = UUID(high: 1, low: 1)
let app = UUID(high: 2, low: 2)
let host = UUID(high: 3, low: 3)
let key = UUID(high: 4, low: 4)

/// A digest of nothing in particular.
func digest(_ byte: UInt8) throws -> SecretDigest {
    guard let digest = SecretDigest(Array(repeating: byte, count: 32)) else {
        throw FieldFault("digest", .malformed)
    }
    return digest
}
