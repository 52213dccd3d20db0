import JSON
import Testing

@Suite struct `The parser reads` {
    @Test(
        arguments: [
            ("null", .null),
            ("true", true),
            ("false", false),
            ("0", 0),
            ("-0", 0),
            ("-1", -1),
            ("123", 123),
            ("9007199254740991", 9_007_199_254_740_991),
            ("-9007199254740991", -9_007_199_254_740_991),
            ("\"\"", ""),
            ("\"asd\"", "asd"),
            (" \t\r\n[ ] \t\r\n", []),
            ("[[]]", [[]]),
            ("[\"\"]", [""]),
            ("[null, 1, \"1\", {}]", [.null, 1, "1", [:]]),
            ("[1\n]", [1]),
            ("{}", [:]),
            ("{\"\":0}", ["": 0]),
            ("{\"a\":[]}", ["a": []]),
            ("{\"a\\u0000b\":1}", ["a\u{0}b": 1]),
            ("{ \"min\" : -1, \"max\" : 1 }", ["min": -1, "max": 1]),
            ("{\n\"a\": \"b\"\n}", ["a": "b"]),
        ] as [(String, JSON)])
    func `the parser reads every kind of value`(input: String, expected: JSON) throws {
        #expect(try parse(input) == expected)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0060\u012a\u12AB""#, "\u{60}\u{12A}\u{12AB}"),
        (#""\uD801\udc37""#, "\u{10437}"),
        (#""\ud83d\ude39\ud83d\udc8d""#, "\u{1F639}\u{1F48D}"),
        (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
        (#""\uFFFF\uFFFE""#, "\u{FFFF}\u{FFFE}"),
        (#""\u0000\u001f\u007f""#, "\u{0}\u{1F}\u{7F}"),
        (#""\\u0061""#, "\\u0061"),
        (#""a\u20acb€""#, "a€b€"),
        ("\"\u{2028}\u{2029}\u{7F}\u{FEFF}\"", "\u{2028}\u{2029}\u{7F}\u{FEFF}"),
        ("\"\u{10FFFF}\"", "\u{10FFFF}"),
    ])
    func `the parser reads every escape and every scalar`(input: String, expected: String) throws {
        let read = try #require(try parse(input).string)
        #expect(Array(read.utf8) == Array(expected.utf8))
    }

    @Test func `the parser reads a string of any length`() throws {
        let long = String(repeating: "é\\n", count: 20_000)
        let read = try #require(try parse("\"\(long)\"").string)
        #expect(read.utf8.count == 60_000)
    }
}

@Suite struct `The parser refuses` {
    @Test(arguments: [(#""a\u0000b""#, 2), (#"{"\u0000":1}"#, 2), (#"[{"a":["\u0000"]}]"#, 8)])
    func `the parser refuses null characters where that is asked for`(input: String, offset: Int)
        throws
    {
        #expect(throws: JSONError(offset: offset, reason: .nullCharacter)) {
            try JSON.parse(Array(input.utf8), limits: JSON.Limits(takesNull: false))
        }
        #expect(throws: Never.self) { try JSON.parse(Array(input.utf8)) }
        // A backslash, and digits behind it.
        let written = Array(#""\\u0000""#.utf8)
        let read = try JSON.parse(written, limits: JSON.Limits(takesNull: false))
        #expect(read == .string(#"\u0000"#))
    }

    @Test(arguments: [
        "", " ", "[", "{", "[1", "[1,", "[\"a", "[\"\\", "[\"\\u", "[\"\\u00", "{\"a", "{\"a\"",
        "{\"a\":", "{\"a\":1", "{\"a\":1,", "tru", "[nul", "-", "\"", "\"\\uD834\\", "[[[",
    ])
    func `the parser refuses a text that ends too early`(input: String) throws {
        let error = try #require(refusal(input))
        #expect([.unexpectedEnd, .loneSurrogate].contains(error.reason))
        #expect(error.offset <= input.utf8.count)
    }

    @Test(arguments: [
        "[1 true]", "[,1]", "[1,,2]", "[1,]", "[,]", "[1;2]", "[a]", "['a']", "[+1]", "[.5]",
        "[Infinity]", "[NaN]", "[-NaN]", "[--1]", "[- 1]", "[TRUE]", "[nulL]", "[True]", "{1:1}",
        "{a:1}", "{'a':1}", "{\"a\" 1}", "{\"a\":1,}", "{\"a\":1,,\"b\":2}", "{,}", "{\"a\"}",
        "{\"a\":1 \"b\":2}", "{\"a\":\"b\",null}", "{[1]:2}", "[1}", "{\"a\":1]", "[/*c*/1]",
        "[1//\n]", "\u{FEFF}[]", "[\u{A0}1]", "[\u{C}1]", "[\u{2060}]", "[\\n]", "]", "}", ",",
        "[1\u{0}]", "*", "<null>", "[-a]", "[0x1]", "[1_000]", "[１]",
    ])
    func `the parser refuses misplaced tokens`(input: String) throws {
        #expect(refusal(input)?.reason == .unexpectedByte)
    }

    @Test(arguments: ["1 2", "[]]", "{}}", "[]x", "null null", "1,", "\"a\"b", "{}#", "[]\u{0}"])
    func `the parser refuses anything after the value`(input: String) throws {
        #expect(refusal(input)?.reason == .trailingBytes)
    }

    @Test(arguments: ["1.0", "0.1", "-0.0", "1e5", "1E5", "1e-2", "0e1", "1.", "-1e+9", "[1.5]"])
    func `the parser refuses fractions and exponents, even where the number is whole`(input: String)
        throws
    {
        #expect(refusal(input)?.reason == .notAnInteger)
    }

    @Test(arguments: ["01", "-01", "00", "-00", "[012]", "00000000000000000000"])
    func `the parser refuses leading zeros`(input: String) throws {
        #expect(refusal(input)?.reason == .leadingZero)
    }

    @Test(arguments: [
        "9007199254740992", "-9007199254740992", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551616", "123456789012345678901234567890",
    ])
    func `the parser refuses integers beyond 2^53`(input: String) throws {
        #expect(refusal(input) == JSONError(offset: 0, reason: .integerOutOfRange))
    }

    @Test(arguments: [
        ("1.5", "1.5"), ("-0.0", "-0.0"), ("1e5", "1e5"), ("-12.50E-300", "-12.50E-300"),
        ("0e+0", "0e+0"),
        ("9007199254740992", "9007199254740992"),
        ("12345678901234567890.5", "12345678901234567890.5"),
    ])
    func `the parser reads other numbers as texts where that is asked for`(
        input: String, text: String
    ) throws {
        let bytes = Array("[\(input),7]".utf8)
        #expect(try JSON.parse(bytes, limits: .foreign) == [.string(text), 7])
        #expect(throws: JSONError.self) { try JSON.parse(bytes) }
    }

    @Test(arguments: [
        "1.", "1.e5", "1e", "1e+", ".5", "01.5", "1.5.5", "1e5e5", "--1.5", "1.5-", "1,5e", "-",
    ])
    func `the parser refuses what is no number whatever is asked for`(input: String) {
        #expect(throws: JSONError.self) { try JSON.parse(Array(input.utf8), limits: .foreign) }
    }

    @Test func `the parser refuses a number of a million digits`() throws {
        let number = String(repeating: "9", count: 1_000_000)
        #expect(refusal(number)?.reason == .integerOutOfRange)
        #expect(refusal("-" + number)?.reason == .integerOutOfRange)
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\uD800\u0041""#, #""\uD800\uD800""#, #""\uDC00\uD800""#,
        #""\uDC00\uDC00""#,
        #""\ud800x""#, #""\ud800\n""#, #""a\uDFFF""#, #"{"\ud800":1}"#, #""\ud800\\udc00""#,
    ])
    func `the parser refuses lone surrogates`(input: String) throws {
        #expect(refusal(input)?.reason == .loneSurrogate)
    }

    @Test(arguments: [
        #""\a""#, #""\x00""#, #""\'""#, #""\0""#, #""\U0041""#, #""\u00g0""#, #""\u 041""#,
        #""\u+041""#, #""\u{41}""#, "\"\\\u{1F600}\"", "\"\\\n\"", #""\u00""#, #""\ud83d\u""#,
        "\"\\ \"",
    ])
    func `the parser refuses unknown escapes`(input: String) throws {
        #expect(refusal(input)?.reason == .invalidEscape)
    }

    @Test(arguments: Array(UInt8(0)..<0x20))
    func `the parser refuses control characters in strings`(byte: UInt8) throws {
        let plain = [0x22, 0x61, byte, 0x22]
        #expect(refusal(plain) == JSONError(offset: 2, reason: .controlCharacter))
        let afterEscape = [0x22, 0x5C, 0x6E, byte, 0x22]
        #expect(refusal(afterEscape) == JSONError(offset: 3, reason: .controlCharacter))
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0x81], [0xC3], [0xE2, 0x82], [0xE0, 0x80, 0xAF],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xC3, 0x28], [0xE9],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func `the parser refuses bytes outside UTF-8`(bytes: [UInt8]) throws {
        #expect(refusal([0x22] + bytes + [0x22])?.reason == .invalidUTF8)
        #expect(refusal([0x22, 0x5C, 0x6E] + bytes + [0x22])?.reason == .invalidUTF8)
        #expect(refusal([0x7B, 0x22] + bytes + [0x22, 0x3A, 0x31, 0x7D])?.reason == .invalidUTF8)
        #expect(refusal([0x5B] + bytes + [0x5D])?.reason == .unexpectedByte)
    }

    @Test func `the parser names the offset of an invalid byte`() throws {
        #expect(refusal([0x22, 0x61, 0x62, 0xFF, 0x22])?.offset == 3)
    }

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, 7),
        (#"{"a":1,"a":2}"#, 7),
        (#"{"a":1,"\u0061":2}"#, 7),
        (#"{"x":{"b":1,"c":2,"b":3}}"#, 18),
        (#"{"":1,"":2}"#, 6),
        ("{\"\u{E9}\":1,\"e\u{301}\":2}", 8),
    ])
    func `the parser refuses a repeated name in an object`(input: String, offset: Int) throws {
        #expect(refusal(input) == JSONError(offset: offset, reason: .duplicateKey))
    }

    @Test func `the parser refuses encodings other than UTF-8`() throws {
        #expect(refusal([0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00]) != nil)
        #expect(refusal([0x00, 0x5B, 0x00, 0x5D]) != nil)
        #expect(refusal([0xEF, 0xBB, 0xBF, 0x5B, 0x5D])?.offset == 0)
    }
}

@Suite struct `The parser's limits` {
    @Test func `the parser reads depth 64 and refuses 65`() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(refusal(deepest) == nil)
        #expect(refusal("[" + deepest + "]") == JSONError(offset: 64, reason: .tooDeep))
        let objects =
            String(repeating: "{\"a\":", count: 63) + "{}" + String(repeating: "}", count: 63)
        #expect(refusal(objects) == nil)
        #expect(refusal("{\"a\":" + objects + "}") == JSONError(offset: 320, reason: .tooDeep))
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"\":"])
    func `the parser refuses a hundred thousand brackets`(unit: String) throws {
        #expect(refusal(String(repeating: unit, count: 100_000))?.reason == .tooDeep)
    }

    @Test func `the parser takes no depth limit above 512`() throws {
        let limits = JSON.Limits(depth: .max)
        let deepest = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(refusal(deepest, limits: limits) == nil)
        #expect(refusal("[" + deepest + "]", limits: limits)?.reason == .tooDeep)
    }

    @Test func `the parser does not begin a text over the size limit`() throws {
        let limits = JSON.Limits(size: 4)
        #expect(refusal("true", limits: limits) == nil)
        #expect(refusal("false", limits: limits) == JSONError(offset: 4, reason: .tooLarge))
        #expect(refusal("!!!!!!", limits: limits)?.reason == .tooLarge)
    }

    @Test func `the parser reads many members in linear time`() throws {
        let members = (0..<50_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        #expect(try parse("{\(members)}").object?.count == 50_000)
    }
}

@Suite struct `A JSON error` {
    @Test func `a JSON error has a reason and a place, and no input`() throws {
        let error = try #require(refusal("{\"password\":hunter2}"))
        #expect(error.description == "unexpected character at byte 12")
    }
}
