import JSON
import Testing

@Suite struct `The canonical form` {
    @Test(arguments: [
        // RFC 8785 section 3.2.2 without its floats.
        (
            #"{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#,
            #"{"literals":[null,true,false],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        ),
        // RFC 8785 section 3.2.3.
        (
            #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"\u{F6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20AC}\":\"Euro Sign\",\"\u{1F600}\":\"Emoji: Grinning Face\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        ),
        // The test data that goes with the RFC.
        (
            #"[56, {"d": true, "10": null, "1": [ ]}]"#,
            #"[56,{"1":[],"10":null,"d":true}]"#
        ),
        (
            #"{"peach": "This sorting order", "péché": "is wrong according to French", "pêche": "but canonicalization MUST", "sin": "ignore locale"}"#,
            #"{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}"#
        ),
        (
            #"{"1": {"f": {"f": "hi", "F": 5}, "\n": 56}, "10": {}, "": "empty", "a": {}, "111": [{"e": "yes", "E": "no"}], "A": {}}"#,
            #"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#
        ),
        (#"{"Unnormalized Unicode":"A\u030a"}"#, "{\"Unnormalized Unicode\":\"A\u{30A}\"}"),
        (
            #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\u000a":"Newline","1":"One","\u0080":"Control\u007f","\ud83d\ude02":"Smiley","\u00f6":"Latin Small Letter O With Diaeresis","\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}"#,
            "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\"</script>\":\"Browser Challenge\",\"\u{80}\":\"Control\u{7F}\",\"\u{F6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20AC}\":\"Euro Sign\",\"\u{1F602}\":\"Smiley\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        ),
        ("-0", "0"),
        (" [ ] ", "[]"),
        (" { } ", "{}"),
    ])
    func `the canonical form equals the standard's examples`(input: String, expected: String) throws
    {
        let written = try parse(input).canonical()
        #expect(written == Array(expected.utf8), "\(text(written))")
    }

    @Test
    func `the canonical form escapes only control characters, quotation marks and backslashes`() {
        let all = JSON.string(
            String(String.UnicodeScalarView((0..<0x100).compactMap(Unicode.Scalar.init(_:)))))
        let expected =
            #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
            + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b"#
            + ##"\u001c\u001d\u001e\u001f !\"#$%&'()*+,-./0123456789:;<=>?@"##
            + #"ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"#
            + String(String.UnicodeScalarView((0x7F..<0x100).compactMap(Unicode.Scalar.init(_:))))
            + "\""
        #expect(text(all.canonical()) == expected)
    }

    @Test func `the canonical form sorts names by UTF-16 units, surrogates before U+E000`() {
        let names = [
            "", "a", "aa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaab", "b", "é", "\u{7FF}", "\u{800}",
            "\u{D7FF}",
            "\u{10000}", "\u{10000}a", "\u{1F600}", "\u{10FFFF}", "\u{E000}", "\u{F8FF}",
            "\u{FB33}", "\u{FFFF}", "\u{FFFF}\u{10000}", "\u{FFFF}\u{E000}",
        ]
        let object = JSON.object(JSONObject(names.map { ($0, JSON.null) }))
        let expected = "{" + names.map { "\"\($0)\":null" }.joined(separator: ",") + "}"
        #expect(text(object.canonical()) == expected)
    }

    @Test func `the canonical form sorts random names as UTF-16 does`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let alphabet: [Unicode.Scalar] = [
            "a", "b", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{D7FF}", "\u{E000}", "\u{EFFF}",
            "\u{F000}", "\u{FFFD}", "\u{10000}", "\u{3FFFF}", "\u{40000}", "\u{10FFFF}",
        ]
        for _ in 0..<200 {
            var members: JSONObject = [:]
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                var name = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0..<12, using: &random) {
                    name.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
                }
                members[String(name)] = .integer(1)
            }
            #expect(brokenCanonicalProperty(of: .object(members)) == nil, "seed \(seed)")
        }
    }

    @Test(arguments: [Int64.min, -1, 0, 9, 10, 99, 100, 9_007_199_254_740_991, .max])
    func `the canonical form writes every integer in digits`(value: Int64) {
        #expect(text(JSON.integer(value).canonical()) == String(value))
    }

    @Test func `the canonical form is appended to existing bytes`() {
        var output = Array("x=".utf8)
        (["b": [1], "a": "é"] as JSON).write(into: &output)
        #expect(text(output) == "x={\"a\":\"é\",\"b\":[1]}")
    }

    @Test func `the canonical form of a value does not depend on the order of its members`() throws
    {
        let names = (0..<100).map { "member\($0)" }
        var random = SeededGenerator(seed: 7)
        let first = JSON.object(JSONObject(names.map { ($0, .null) }))
        for _ in 0..<20 {
            let order = names.shuffled(using: &random)
            let input = "{" + order.map { "\"\($0)\":null" }.joined(separator: ",") + "}"
            #expect(try parse(input).canonical() == first.canonical())
        }
    }

    @Test func `the canonical form of a bridged string is written`() {
        // A bridged or sliced string need not be contiguous UTF-8.
        let slice = String("xx\u{1F600}\"quoted\"yy".dropFirst(2).dropLast(2))
        #expect(text(JSON.string(slice).canonical()) == "\"\u{1F600}\\\"quoted\\\"\"")
    }
}

@Suite struct `The form for people` {
    @Test func `the pretty form is indented by two spaces and sorted`() throws {
        let value: JSON = ["b": [1, "two", [], [:]], "a": ["x": .null], "c": [:]]
        #expect(
            value.pretty() == """
                {
                  "a": {
                    "x": null
                  },
                  "b": [
                    1,
                    "two",
                    [],
                    {}
                  ],
                  "c": {}
                }
                """)
        #expect(try parse(value.pretty()) == value)
    }

    @Test func `the pretty form of a plain value is one line`() {
        #expect(JSON.string("a\n").pretty() == #""a\n""#)
        #expect(JSON.null.pretty() == "null")
    }
}
