import Testing
import Values

@testable import Mail

private func fault(_ text: String) -> MailAddress.Fault? {
    do throws(MailAddress.Fault) {
        _ = try MailAddress(text)
        return nil
    } catch {
        return error
    }
}

@Suite struct `A mail address` {
    @Test(arguments: [
        ("anna@example.org", "anna@example.org"),
        ("  Anna.Bauer+Shop@Example.ORG\n", "anna.bauer+shop@example.org"),
        ("\u{A0}a@b.de\u{3000}", "a@b.de"),
        ("a@MÜNCHEN.de", "a@xn--mnchen-3ya.de"),
        ("a@xn--MNCHEN-3ya.de", "a@xn--mnchen-3ya.de"),
        ("a@straße.de", "a@xn--strae-oqa.de"),
        ("a@пример.рф", "a@xn--e1afmkfd.xn--p1ai"),
        ("a@παράδειγμα.gr", "a@xn--hxajbheg2az3al.gr"),
        ("a@例え.jp", "a@xn--r8jz45g.jp"),
        ("a@도메인.kr", "a@xn--hq1bm8jm9l.kr"),
        ("a@例子.中国", "a@xn--fsqu00a.xn--fiqs8s"),
        ("a@دامنه.com", "a@xn--mgbp1eef.com"),
        ("!#$&'*+-/=?^_`{|}~".dropFirst() + "@a-b.c0.example", "#$&'*+-/=?^_`{|}~@a-b.c0.example"),
        ("o'neil@sub.domain.example", "o'neil@sub.domain.example"),
    ])
    func `a mail address has one normal form`(written: String, text: String) throws {
        let address = try MailAddress(written)
        #expect(address.text == text)
        #expect(try MailAddress(address.text) == address)
    }

    @Test(arguments: [
        ("Anna@Example.org", "anna@example.org"), ("a@xn--mnchen-3ya.de", "a@münchen.de"),
        ("a@XN--E1AFMKFD.xn--p1ai", "a@пример.рф"), ("a@b.MÜNCHEN.de", "a@b.münchen.de"),
        ("a@xn--mgbp1eef.com", "a@دامنه.com"), ("a@рос.рф", "a@рос.рф"),
    ])
    func `a mail address is shown in Unicode and read back as the same`(
        written: String, shown: String
    ) throws {
        let address = try MailAddress(written)
        #expect(address.shown == shown)
        #expect(try MailAddress(address.shown) == address)
    }

    @Test(
        arguments: [
            ("", .malformed), ("anna", .malformed), ("@example.org", .malformed),
            ("anna@", .malformedDomain), ("anna@org", .malformedDomain),
            ("anna@localhost", .malformedDomain), ("anna@[127.0.0.1]", .malformedDomain),
            ("anna@127.0.0.1", .malformedDomain), ("anna@example.org.", .malformedDomain),
            ("anna@.example.org", .malformedDomain), ("anna@a..example", .malformedDomain),
            ("anna@-a.example", .malformedDomain), ("anna@a-.example", .malformedDomain),
            ("anna@ab--c.example", .malformedDomain), ("anna@a_b.example", .malformedDomain),
            ("anna@a b.example", .malformedDomain), ("anna@a.example\r\nBcc: x", .invisible),
            ("an\0na@a.example", .invisible), ("an\nna@a.example", .invisible),
            ("an\u{200B}na@a.example", .invisible), ("anna@a\u{AD}b.example", .invisible),
            ("anna@a\u{202E}b.example", .invisible), ("\u{FEFF}anna@a.example", .invisible),
            ("anna@a\u{200D}b.example", .invisible), ("anna@a\u{FE0F}.example", .invisible),
            ("anna@a\u{2028}.example", .invisible), ("a\u{E0041}@a.example", .invisible),
            ("an na@a.example", .unsupportedLocalPart), ("a@b@c.example", .unsupportedLocalPart),
            ("\"a b\"@c.example", .unsupportedLocalPart), ("a<b>@c.example", .unsupportedLocalPart),
            ("a,b@c.example", .unsupportedLocalPart), ("a(b)@c.example", .unsupportedLocalPart),
            (".a@c.example", .unsupportedLocalPart), ("a.@c.example", .unsupportedLocalPart),
            ("a..b@c.example", .unsupportedLocalPart), ("-f@c.example", .unsupportedLocalPart),
            ("a%b@c.example", .unsupportedLocalPart), ("a!b@c.example", .unsupportedLocalPart),
            ("ännä@c.example", .unsupportedLocalPart), ("mıke@c.example", .unsupportedLocalPart),
            ("\u{212A}ate@c.example", .unsupportedLocalPart),
            ("ａnna@c.example", .unsupportedLocalPart),
            (String(repeating: "a", count: 65) + "@c.example", .tooLong),
            ("a@" + String(repeating: "a", count: 64) + ".example", .malformedDomain),
            ("a@" + String(repeating: "a.", count: 126) + "example", .malformedDomain),
            (
                String(repeating: "b", count: 64) + "@" + String(repeating: "aaaaaaa.", count: 24)
                    + "de", .tooLong
            ),
            (String(repeating: " ", count: 2000) + "a@b.example", .tooLong),
            ("a@xn--.example", .malformedDomain), ("a@xn--a.example", .malformedDomain),
            ("a@xn--abc-.example", .malformedDomain), ("a@xn--99999999.example", .malformedDomain),
            ("a@1א.example", .malformedDomain),
            ("a@א.1b.example", .malformedDomain),
        ] as [(String, MailAddress.Fault)])
    func `an invalid mail address is refused`(written: String, expected: MailAddress.Fault) {
        #expect(fault(written) == expected)
    }

    @Test(arguments: [
        "a@pаypal.com", "a@аррӏе.com", "a@арсе.com", "a@xn--80ak6aa92e.com", "a@αρτ.com",
        "a@ոսօ.com", "a@gооgle.de", "a@exаmple.рф", "a@googleа.com", "a@mıcrosoft.com",
        "a@ɡoogle.com", "a@ｅxample.com", "a@ﬁnance.com", "a@e\u{301}xample.com", "a@example。com",
        "a@exampleノ.com", "a@🎉.example", "a@ⅷ.example", "a@а1.example", "a@ǆ.example",
        "a@日本a.jp", "a@ｶﾅ.jp", "a@Kelvin\u{212A}α.com",
    ])
    func `a mail address with look-alike letters is shown in ASCII`(written: String) {
        let found = fault(written)
        #expect(found == .lookAlike || found == .malformedDomain, "\(found as Any)")
    }

    @Test func `a mail address with letters of its own script is shown in Unicode`() throws {
        #expect(try MailAddress("a@рос.рф").domain == "xn--n1ade.xn--p1ai")
    }

    @Test func `a mail address gives the same result on the fast and on the full path`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["a", "bc", "7", "42", "e.f", ".", "-", "A", "_", "@", "x\u{301}", " "]
        let lengths = [2, 61, 62, 63, 64, 65, 190]
        /// Plain ones mostly, and long ones at times.
        func part() -> String {
            let plain = Int.random(in: 0..<4, using: &generator) > 0 ? 5 : pieces.count
            return (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                let isLong = Int.random(in: 0..<12, using: &generator) == 0
                return String(
                    repeating: pieces[Int.random(in: 0..<plain, using: &generator)],
                    count: isLong ? lengths.randomElement(using: &generator) ?? 1 : 1)
            }.joined()
        }
        var taken = 0
        for _ in 0..<10_000 {
            let text = part() + "@" + part() + "." + part()
            let closely = try? MailAddress(any: text)
            if closely != nil { taken += 1 }
            #expect((try? MailAddress(text)) == closely, "\(text), seed \(seed)")
        }
        #expect(taken > 300, "seed \(seed)")
    }

    @Test func `a mail address's description does not reveal it`() throws {
        let address = try MailAddress("anna@example.org")
        var output = "\(address) \(String(reflecting: address)) \([address]) \(Mailbox(address))"
        dump(address, to: &output)
        #expect(!output.contains("anna"))
        #expect(!output.contains("example.org"))
    }
}

@Suite struct `The ASCII form of a label` {
    /// From RFC 3492 section 7.1.
    @Test(arguments: [
        ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
        ("そのスピードで", "d9juau41awczczp"),
        ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
    ])
    func `an ASCII label is written and read as in the examples of RFC 3492`(
        text: String, code: String
    ) {
        #expect(Punycode.encode(Array(text.unicodeScalars)) == code)
        #expect(Punycode.decode(code) == Array(text.unicodeScalars))
    }

    @Test func `an ASCII label has one Unicode text`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...70, using: &generator)
            let text = String(
                decoding: (0..<length).compactMap { _ in digits.randomElement(using: &generator) },
                as: UTF8.self)
            guard let scalars = Punycode.decode(text) else { continue }
            guard let again = Punycode.encode(scalars) else {
                Issue.record("\(text) is read and not written, seed \(seed)")
                continue
            }
            #expect(Punycode.decode(again) == scalars, "\(text), seed \(seed)")
        }
        for _ in 0..<5_000 {
            let scalars = (0..<Int.random(in: 1...63, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0x61...0x10FFFF, using: &generator))
            }
            guard let code = Punycode.encode(scalars), code.utf8.count <= 63 else { continue }
            #expect(Punycode.decode(code) == scalars, "seed \(seed)")
        }
    }

    @Test func `an ASCII label is read from any text without harm`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "a", "B", "@", ".", "-", "xn--", "ü", "а", "\u{301}", "\u{200D}", " ", "\0", "1", "日",
            "ß", "İ", "א", "+", "\"", "\u{10FFFF}", "mnchen-3ya", "z9",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let text =
                (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }
                .joined() + "@" + (pieces.randomElement(using: &generator) ?? "") + ".de"
            guard let address = try? MailAddress(text) else { continue }
            #expect(address.text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(address.text.lowercased() == address.text)
            #expect((try? MailAddress(address.text)) == address, "\(text), seed \(seed)")
        }
    }
}
