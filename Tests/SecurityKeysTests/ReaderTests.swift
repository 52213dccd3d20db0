import Testing
import Values

@testable import SecurityKeys
@testable import SecurityKeysTesting

/// Appendix A of RFC 8949 has most of these.
@Suite struct `Items of CBOR` {
    static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

    @Test(
        arguments: [
            ("00", .integer(0)), ("17", .integer(23)), ("1818", .integer(24)),
            ("1903e8", .integer(1000)), ("1b000000e8d4a51000", .integer(1_000_000_000_000)),
            ("1b7fffffffffffffff", .integer(.max)), ("3b7fffffffffffffff", .integer(.min)),
            ("20", .integer(-1)), ("3863", .integer(-100)), ("40", .bytes([])),
            ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("62c3bc", .text("ü")),
            ("80", .array([])), ("83010203", .array([.integer(1), .integer(2), .integer(3)])),
            ("a0", .map([:])),
            ("a201020304", .map([.integer(1): .integer(2), .integer(3): .integer(4)])),
            ("a1616101", .map([.text("a"): .integer(1)])), ("f4", .bool(false)),
            ("f5", .bool(true)),
            ("f6", .null), ("f93c00", .float), ("fa47c35000", .float),
            ("fb3ff199999999999a", .float),
        ] as [(String, CBOR)])
    func `a well-formed CBOR item is read`(_ hex: String, _ item: CBOR) throws {
        #expect(try CBOR.decode(Self.bytes(hex)) == item)
    }

    @Test(
        arguments: [
            ("", .truncated), ("18", .truncated), ("42", .truncated), ("4201", .truncated),
            ("5affffffff00", .truncated), ("5bffffffffffffffff00", .truncated),
            ("7bffffffffffffffff00", .truncated), ("9bffffffffffffffff", .truncated),
            ("9a0001ffff00", .truncated), ("bb7fffffffffffffff", .truncated), ("a101", .truncated),
            ("8201", .truncated), ("1c", .truncated), ("1801", .notMinimal),
            ("190001", .notMinimal),
            ("1a00000001", .notMinimal), ("1b0000000000000001", .notMinimal), ("3801", .notMinimal),
            ("5801ff", .notMinimal), ("980101", .notMinimal), ("b8010101", .notMinimal),
            ("780161", .notMinimal), ("1bffffffffffffffff", .unsupported),
            ("3bffffffffffffffff", .unsupported), ("5f42010243030405ff", .unsupported),
            ("7f657374726561646d696e67ff", .unsupported), ("9fff", .unsupported),
            ("bfff", .unsupported), ("ff", .unsupported), ("c11a514b67b0", .unsupported),
            ("f7", .unsupported), ("a14100f6", .unsupported), ("a1f500", .unsupported),
            ("61ff", .unsupported), ("62c328", .unsupported), ("a201000100", .duplicateKey),
            ("a2616100616100", .duplicateKey), ("0000", .trailing),
        ] as [(String, CBORFlaw)])
    func `a malformed CBOR item is refused`(_ hex: String, _ flaw: CBORFlaw) throws {
        let bytes = try Self.bytes(hex)
        #expect(throws: flaw) { try CBOR.decode(bytes) }
    }

    @Test func `a CBOR item that is nested too deep is refused`() throws {
        let deep = [UInt8](repeating: 0x81, count: CBORReader.depthLimit) + [0x00]
        _ = try CBOR.decode(deep)
        #expect(throws: CBORFlaw.tooDeep) { try CBOR.decode([0x81] + deep) }
        let maps = [UInt8](repeating: 0xA1, count: 60_000)
        #expect(throws: CBORFlaw.self) { try CBOR.decode(maps) }
    }

    @Test func `a CBOR item that is too long is refused`() {
        let long = Item.bytes([UInt8](repeating: 0, count: CBORReader.sizeLimit)).encoded
        #expect(throws: CBORFlaw.tooLarge) { try CBOR.decode(long) }
    }

    @Test func `a CBOR item is read at an offset and returns its end`() throws {
        let (item, end) = try CBOR.decode([0xFF, 0x82, 0x01, 0x02, 0xFF], from: 1)
        #expect(item == .array([.integer(1), .integer(2)]))
        #expect(end == 4)
    }
}

@Suite struct `Elements of DER` {
    @Test(
        arguments: [
            [], [0x30], [0x30, 0x80], [0x30, 0x81, 0x01, 0x00], [0x30, 0x82, 0x00, 0x01, 0x00],
            [0x30, 0x01], [0x30, 0x84, 0, 0, 0, 0], [0x30, 0x83, 0xFF, 0xFF, 0xFF],
            [0x1F, 0x80, 0x01],
            [0x1F, 0x1E, 0x00], [0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x00],
            [0x05, 0x00, 0x05, 0x00],
        ] as [[UInt8]])
    func `a malformed DER element is refused`(_ bytes: [UInt8]) {
        #expect(throws: DER.Malformed.self) { try DER.decode(bytes) }
    }

    @Test func `a primitive DER element has no children`() throws {
        let element = try DER.decode([0x81, 0x03] + ASN1.integer(1))
        #expect(element.tag == .other)
    }

    @Test func `a DER element with a tag of several bytes is read`() throws {
        let element = try DER.decode(ASN1.context(702, ASN1.integer(3)))
        #expect(element.tag == .context(702))
        #expect(try element.child().number() == 3)
        #expect(try DER.decode(ASN1.octets([UInt8](repeating: 1, count: 300))).content.count == 300)
    }

    @Test(arguments: [[], [0x80], [0, 1], [0, 0], [1, 2, 3, 4, 5]] as [[UInt8]])
    func `a DER integer must be short and not negative`(_ content: [UInt8]) throws {
        let element = try DER.decode(ASN1.element(0x02, content))
        #expect(throws: DER.Malformed.self) { try element.number() }
    }
}
