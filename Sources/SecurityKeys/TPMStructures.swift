internal import Cryptography

/// Big-endian numbers and strings with two bytes of length, as TPM 2.0 writes its structures.
private struct TPMReader {
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func take(_ count: Int) throws(Malformed) -> [UInt8] {
        guard bytes.count - position >= count else { throw Malformed() }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func number16() throws(Malformed) -> UInt16 {
        try take(2).reduce(0) { $0 << 8 | UInt16($1) }
    }

    mutating func number32() throws(Malformed) -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func string() throws(Malformed) -> [UInt8] { try take(Int(try number16())) }

    func checkEnd() throws(Malformed) {
        guard position == bytes.count else { throw Malformed() }
    }
}

/// TPMT_PUBLIC (TPM 2.0 part 2, section 12.2.4), for keys that sign.
struct TPMPublicArea {
    /// Nil for a hash that we do not know.
    let nameHash: HashFunction?
    /// Nil for a key of a kind that cannot be registered.
    let key: VerifyingKey?

    private static let rsa: UInt16 = 0x0001
    private static let elliptic: UInt16 = 0x0023
    private static let nothing: UInt16 = 0x0010

    init(_ bytes: [UInt8]) throws {
        var reader = TPMReader(bytes)
        let type = try reader.number16()
        nameHash =
            switch try reader.number16() {
            case 0x0004: .sha1
            case 0x000B: .sha256
            case 0x000C: .sha384
            case 0x000D: .sha512
            default: nil
            }
        _ = try reader.number32()
        _ = try reader.string()
        // A key that signs encrypts nothing for others: it has no symmetric algorithm.
        guard try reader.number16() == TPMPublicArea.nothing else { throw TPMReader.Malformed() }
        if try reader.number16() != TPMPublicArea.nothing { _ = try reader.number16() }
        switch type {
        case TPMPublicArea.rsa: key = try TPMPublicArea.rsaKey(&reader)
        case TPMPublicArea.elliptic: key = try TPMPublicArea.ellipticKey(&reader)
        default: throw TPMReader.Malformed()
        }
        try reader.checkEnd()
    }

    private static func rsaKey(_ reader: inout TPMReader) throws -> VerifyingKey? {
        let bits = try reader.number16()
        let exponent = try reader.number32()
        let modulus = try reader.string()
        guard modulus.count == Int(bits) / 8 else { throw TPMReader.Malformed() }
        // Zero stands for the usual one.
        let value = exponent == 0 ? 65_537 : exponent
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        return try? VerifyingKey(modulus: modulus, exponent: Array(bytes.drop { $0 == 0 }))
    }

    private static func ellipticKey(_ reader: inout TPMReader) throws -> VerifyingKey? {
        let curve: VerifyingKey.Kind? =
            switch try reader.number16() {
            case 0x0003: .p256
            case 0x0004: .p384
            case 0x0005: .p521
            default: nil
            }
        if try reader.number16() != nothing { _ = try reader.number16() }
        let x = try reader.string()
        let y = try reader.string()
        guard let curve else { return nil }
        let length = curve == .p256 ? 32 : curve == .p384 ? 48 : 66
        guard let x = padded(x, length), let y = padded(y, length) else { return nil }
        return try? VerifyingKey(curve: curve, x: x, y: y)
    }

    /// Some chips leave the zeros at the beginning of a coordinate out.
    private static func padded(_ bytes: [UInt8], _ length: Int) -> [UInt8]? {
        guard bytes.count <= length else { return nil }
        return [UInt8](repeating: 0, count: length - bytes.count) + bytes
    }
}

/// TPMS_ATTEST (TPM 2.0 part 2, section 10.12.8) of a certified key.
struct TPMAttestation {
    let extraData: [UInt8]
    let name: [UInt8]

    init(_ bytes: [UInt8]) throws(WebAuthnFailure.ChipFlaw) {
        var reader = TPMReader(bytes)
        guard let magic = try? reader.number32(), magic == 0xFF54_4347 else { throw .magic }
        guard let type = try? reader.number16(), type == 0x8017 else { throw .type }
        do throws(TPMReader.Malformed) {
            _ = try reader.string()
            extraData = try reader.string()
            // The clock, and the version of the firmware.
            _ = try reader.take(17 + 8)
            name = try reader.string()
            _ = try reader.string()
            try reader.checkEnd()
        } catch {
            throw .attestation
        }
    }
}

extension WebAuthnFailure.ChipFlaw: Error {}
