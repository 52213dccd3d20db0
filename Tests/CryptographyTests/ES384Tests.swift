import Testing

@testable import Cryptography

@Suite struct `ES384 signatures` {
    // RFC 6979, appendix A.2.6, with SHA-384.
    static let x = bytes(
        """
        EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64
        DEF8F0EA9055866064A254515480BC13
        """)
    static let y = bytes(
        """
        8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1
        288B231C3AE0D4FE7344FD2533264720
        """)
    static let sample = bytes(
        """
        94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C
        81A648152E44ACF96E36DD1E80FABE46
        99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94F
        A329C145786E679E7B82C71A38628AC8
        """)
    static let test = bytes(
        """
        8203B63D3C853E8D77227FB377BCF7B7B772E97892A80F36AB775D509D7A5FEB
        0542A7F0812998DA8F1DD3CA3CF023DB
        DDD0760448D42D8A43AF45AF836FCE4DE8BE06B485E9B61B827C2F13173923E0
        6A739F040649A667BF3B828246BAA5A5
        """)
    static let order = bytes(
        """
        FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF
        581A0DB248B0A77AECEC196ACCC52973
        """)

    @Test func `ES384 signatures verify the examples of RFC 6979, and no other message`() throws {
        let key = try ES384.PublicKey(x: Self.x, y: Self.y)
        #expect(key.isValid(Self.sample, for: Array("sample".utf8)))
        #expect(key.isValid(Self.test, for: Array("test".utf8)))
        #expect(!key.isValid(Self.sample, for: Array("test".utf8)))
        for changed in withOneBitFlipped(Self.sample) {
            #expect(!key.isValid(changed, for: Array("sample".utf8)))
        }
        for count in Self.sample.indices {
            #expect(!key.isValid(Array(Self.sample[..<count]), for: Array("sample".utf8)))
        }
        #expect(!key.isValid(Self.sample + [0], for: Array("sample".utf8)))
    }

    @Test func `ES384 signatures are refused when r or s is zero or not below the order`() throws {
        let key = try ES384.PublicKey(x: Self.x, y: Self.y)
        let zero = [UInt8](repeating: 0, count: 48)
        let message = Array("sample".utf8)
        let (r, s) = (Array(Self.sample.prefix(48)), Array(Self.sample.suffix(48)))
        for number in [zero, Self.order, [UInt8](repeating: 0xff, count: 48)] {
            #expect(!key.isValid(number + s, for: message))
            #expect(!key.isValid(r + number, for: message))
            #expect(!key.isValid(number + number, for: message))
            #expect(throws: Failure(.malformed, "")) {
                try ECDSASignature(joined: number + s, on: .p384)
            }
        }
    }

    @Test func `ES384 signatures have keys that are points on the curve`() throws {
        var off = Self.y
        off[47] ^= 1
        let zero = [UInt8](repeating: 0, count: 48)
        for (x, y) in [
            (Self.x, off), (zero, zero), (Self.y, Self.x), (Self.x, Array(Self.y.dropLast())),
            ([0] + Self.x, Self.y), ([], []),
        ] {
            #expect(throws: Failure(.malformed, "")) { try ES384.PublicKey(x: x, y: y) }
        }
        let key = try ES384.PublicKey(x: Self.x, y: Self.y)
        #expect(try Set([key, ES384.PublicKey(x: Self.x, y: Self.y)]).count == 1)
    }
}
