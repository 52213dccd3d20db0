internal import CCBOR

/// Why bytes are no CBOR that is read here.
enum CBORFlaw: Error, Hashable, CaseIterable {
    case truncated, unsupported, notMinimal, tooDeep, tooLarge, duplicateKey, trailing
}

extension CBOR {
    /// Exactly one item.
    static func decode(_ bytes: [UInt8]) throws(CBORFlaw) -> CBOR {
        let (item, end) = try decode(bytes, from: 0)
        guard end == bytes.count else { throw .trailing }
        return item
    }

    /// The item that begins at `start`, and where it ends.
    static func decode(_ bytes: [UInt8], from start: Int) throws(CBORFlaw) -> (CBOR, end: Int) {
        var reader = CBORReader(bytes: bytes, position: start)
        let item = try reader.item(depth: 0)
        return (item, reader.position)
    }
}

/// Reads what CTAP2 calls its canonical form: definite lengths and the shortest heads, no tags, no
/// name twice. Only the order of names is left free, because password managers do not keep it.
///
/// libcbor finds the items; what is built of them, and how deep and how much, is decided here: a
/// length is believed only once the input has been seen to be that long.
struct CBORReader {
    /// An attestation object needs three; CTAP2 allows four.
    static let depthLimit = 8
    /// The largest attestation objects, with chains of five certificates, have less than 16 KiB.
    static let sizeLimit = 65_536

    let bytes: [UInt8]
    var position: Int

    private struct Head {
        let kind: shim_cbor_kind
        let value: UInt64
        let end: Int
    }

    mutating func item(depth: Int) throws(CBORFlaw) -> CBOR {
        guard bytes.count <= CBORReader.sizeLimit else { throw .tooLarge }
        guard depth <= CBORReader.depthLimit else { throw .tooDeep }
        let head = try head()
        let start = position
        position = head.end
        switch head.kind {
        case shim_cbor_unsigned, shim_cbor_negative, shim_cbor_array, shim_cbor_map:
            try checkShortest(head.value, head.end - start)
        default:
            break
        }
        switch head.kind {
        case shim_cbor_unsigned:
            return .integer(try number(head.value))
        case shim_cbor_negative:
            return .integer(-1 - (try number(head.value)))
        case shim_cbor_bytes:
            return .bytes(try string(head, from: start))
        case shim_cbor_text:
            let text = String(validating: try string(head, from: start), as: UTF8.self)
            guard let text else { throw .unsupported }
            return .text(text)
        case shim_cbor_array:
            return try array(of: head.value, depth: depth)
        case shim_cbor_map:
            return try map(of: head.value, depth: depth)
        case shim_cbor_bool:
            return .bool(bytes[start] == 0xF5)
        case shim_cbor_null:
            return .null
        case shim_cbor_float:
            return .float
        default:
            throw .unsupported
        }
    }

    private func head() throws(CBORFlaw) -> Head {
        guard position < bytes.count else { throw .truncated }
        var head = shim_cbor_head()
        let position = position
        let found = unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe shim_cbor_read(start + position, bytes.count - position, &head)
        }
        guard found, head.read > 0, head.read <= bytes.count - position else { throw .truncated }
        return Head(kind: head.kind, value: head.value, end: position + head.read)
    }

    /// Positions before `head.end` are inside of the input: so is all of the string.
    private func string(_ head: Head, from start: Int) throws(CBORFlaw) -> [UInt8] {
        guard let length = Int(exactly: head.value), length < head.end - start else {
            throw .truncated
        }
        try checkShortest(head.value, head.end - start - length)
        return Array(bytes[(head.end - length)..<head.end])
    }

    private func number(_ value: UInt64) throws(CBORFlaw) -> Int64 {
        guard let number = Int64(exactly: value) else { throw .unsupported }
        return number
    }

    private func checkShortest(_ value: UInt64, _ length: Int) throws(CBORFlaw) {
        let shortest =
            switch value {
            case 0..<24: 1
            case 24..<0x100: 2
            case 0x100..<0x1_0000: 3
            case 0x1_0000..<0x1_0000_0000: 5
            default: 9
            }
        guard length == shortest else { throw .notMinimal }
    }

    /// Each element takes a byte at least.
    private func count(_ value: UInt64, each: Int) throws(CBORFlaw) -> Int {
        guard let count = Int(exactly: value), count <= (bytes.count - position) / each else {
            throw .truncated
        }
        return count
    }

    private mutating func array(of value: UInt64, depth: Int) throws(CBORFlaw) -> CBOR {
        var elements: [CBOR] = []
        for _ in 0..<(try count(value, each: 1)) {
            elements.append(try item(depth: depth + 1))
        }
        return .array(elements)
    }

    private mutating func map(of value: UInt64, depth: Int) throws(CBORFlaw) -> CBOR {
        var members: [CBOR.Key: CBOR] = [:]
        for _ in 0..<(try count(value, each: 2)) {
            let key: CBOR.Key
            switch try item(depth: depth + 1) {
            case .integer(let label): key = .integer(label)
            case .text(let name): key = .text(name)
            case .bytes, .array, .map, .bool, .null, .float: throw .unsupported
            }
            guard members.updateValue(try item(depth: depth + 1), forKey: key) == nil else {
                throw .duplicateKey
            }
        }
        return .map(members)
    }
}
