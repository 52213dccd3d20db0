import Cryptography
import Testing
import Values

@testable import OneTimeCodes

@Suite struct `Codes of an authenticator app` {
    /// The secret of RFC 4226 appendix D and RFC 6238 appendix B.
    static let secret = SecretBytes(Array("12345678901234567890".utf8))

    private func totp() throws -> TOTP { try #require(TOTP(secret: Self.secret)) }

    @Test(
        arguments: [
            (0, "755224"), (1, "287082"), (2, "359152"), (3, "969429"), (4, "338314"),
            (5, "254676"),
            (6, "287922"), (7, "162583"), (8, "399871"), (9, "520489"),
        ] as [(UInt64, String)])
    func `authenticator codes equal the examples of RFC 4226`(counter: UInt64, code: String) throws
    {
        #expect(try HOTP.code(secret: Self.secret, counter: counter, digits: 6) == code)
    }

    @Test(
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"), (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func `authenticator codes equal the examples of RFC 6238`(second: Int64, code: String) throws {
        let step = TOTP.step(atSecond: second)
        let eight = try HOTP.code(secret: Self.secret, counter: UInt64(step), digits: 8)
        #expect(eight == code)
        let six = String(code.suffix(6))
        #expect(try totp().code(atStep: step) == six)
        #expect(try totp().matchingStep(of: six, atSecond: second) == step)
    }

    @Test func `authenticator codes are accepted one step early and late, and name their step`()
        throws
    {
        let totp = try totp()
        let step: Int64 = 50_000_000
        for offset: Int64 in -3...3 {
            let code = try totp.code(atStep: step + offset)
            for second in [step * 30, step * 30 + 29] {
                let expected = abs(offset) <= 1 ? step + offset : nil
                #expect(try totp.matchingStep(of: code, atSecond: second) == expected)
            }
        }
    }

    @Test func `authenticator codes are refused when used or older than the last one used`() throws
    {
        let totp = try totp()
        let second: Int64 = 1_500_000_000
        let step = TOTP.step(atSecond: second)
        func match(_ offset: Int64, after lastUsed: Int64?) throws -> Int64? {
            try totp.matchingStep(
                of: totp.code(atStep: step + offset), atSecond: second, after: lastUsed)
        }
        #expect(try match(0, after: step - 1) == step)
        #expect(try match(0, after: step) == nil)
        #expect(try match(-1, after: step) == nil)
        #expect(try match(1, after: step) == step + 1)
        #expect(try match(1, after: step + 1) == nil)
        #expect(try match(0, after: .max) == nil)
        #expect(try match(0, after: .min) == step)
    }

    @Test(arguments: [" 287 082 ", "287-082", "2 8 7 0 8 2", "-287082"])
    func `authenticator codes may be typed with spaces and hyphens`(input: String) throws {
        #expect(try totp().matchingStep(of: input, atSecond: 59) == 1)
    }

    @Test(arguments: [
        "", "28708", "2870820", "0287082", "94287082", "287082\n", "287082\0", "２８７０８２", "28708２",
        "٢٨٧٠٨٢", "287.082", "+287082", "abcdef", "287082" + String(repeating: " ", count: 100_000),
        "\u{202A}287082",
    ])
    func `authenticator codes need exactly six digits`(input: String) throws {
        #expect(try totp().matchingStep(of: input, atSecond: 59) == nil)
    }

    @Test(arguments: [Int64.min, -1_000_000, -31, -1, 0, 29, .max - 1, .max])
    func `authenticator codes at the ends of time do no harm`(second: Int64) throws {
        let totp = try totp()
        for code in ["755224", "287082", "000000"] {
            let step = try totp.matchingStep(of: code, atSecond: second)
            #expect(step ?? 0 >= 0)
        }
        #expect(try totp.code(atStep: .min) == "755224")
        #expect(TOTP.step(atSecond: -1) == -1)
        #expect(try totp.matchingStep(of: "755224", atSecond: -31) == 0)
    }

    @Test func `authenticator secrets have 160 bits and do not repeat`() throws {
        let secrets = (0..<50).map { _ in TOTP.generate().text }
        #expect(Set(secrets).count == 50)
        #expect(secrets.allSatisfy { $0.utf8.count == 32 })
        for count in [0, 1, 10, 15, 129, 5000] {
            #expect(TOTP(secret: .random(count)) == nil)
        }
        for count in [16, 20, 128] { #expect(TOTP(secret: .random(count)) != nil) }
    }

    @Test func `authenticator apps are enrolled by an otpauth URL`() throws {
        let totp = try totp()
        #expect(
            totp.enrolmentURI(issuer: "Example Co", account: "ann@example.org")
                == "otpauth://totp/Example%20Co:ann%40example.org"
                + "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Example%20Co"
                + "&algorithm=SHA1&digits=6&period=30")
        #expect(totp.text == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    }

    @Test(arguments: [
        "a:b", "a&secret=AAAA", "a?b", "a#b", "a/b", "a%3Ab", "a b", "é", "日本", "a\r\nb", "a\"b<c>",
        String(repeating: "x", count: 10_000), String(repeating: "日", count: 10_000), "",
        "e" + String(repeating: "\u{0301}", count: 5000),
    ])
    func `authenticator apps' otpauth URLs escape the names`(name: String) throws {
        let uri = try totp().enrolmentURI(issuer: name, account: name)
        #expect(uri.utf8.count < 1400)
        #expect(!uri.contains("%3A"))
        #expect(uri.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(uri.filter { $0 == ":" }.count == 2)
        #expect(uri.filter { $0 == "?" }.count == 1)
        #expect(uri.filter { $0 == "&" }.count == 4)
        #expect(uri.filter { $0 == "/" }.count == 3)
        #expect(!uri.contains("#"))
        #expect(uri.components(of: "secret=").count == 2)
    }
}

extension String {
    fileprivate func components(of separator: String) -> [Substring] { split(separator: separator) }
}
