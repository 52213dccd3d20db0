import JSON
import LogTesting
import ReadModels
import Testing

@testable import API

@Suite struct `A schema` {
    private let order = Schema.object(
        .required("name", .text(1...5, .some(Characters("a-z"), 1...5)), "A name."),
        .optional("count", .nullable(.integer(1...3)), "How many."),
        .optional("tags", .list(of: .oneOf(["a", "b"]), 0...2, unique: true), "Tags."))

    @Test func `a schema accepts a value that meets it`() throws {
        try order.check(["name": "abc"])
        try order.check(["name": "abc", "count": .null, "tags": ["b", "a"]])
    }

    @Test(
        arguments: [
            (["name": 1], "name"), ([:], "name"), (["name": ""], "name"), (["name": "A"], "name"),
            (["name": "abcdef"], "name"), (["name": "a", "count": 4], "count"),
            (["name": "a", "tags": ["c"]], "tags/0"), (["name": "a", "tags": ["a", "a"]], "tags"),
            (["name": "a", "tags": ["a", "b", "a"]], "tags"), (["name": "a", "more": 1], "more"),
            ([], ""), (.null, ""),
        ] as [(JSON, String)])
    func `a schema's violation names the field`(_ value: JSON, _ field: String) {
        let error = #expect(throws: SchemaViolation.self) { try order.check(value) }
        #expect(error?.field == field)
    }

    @Test func `a schema is printed with every constraint`() {
        #expect(
            order.document == [
                "type": "object", "additionalProperties": false, "required": ["name"],
                "properties": [
                    "name": [
                        "type": "string", "minLength": 1, "maxLength": 5,
                        "pattern": "^[a-z]{1,5}$", "description": "A name.",
                    ],
                    "count": [
                        "anyOf": [
                            ["type": "integer", "minimum": 1, "maximum": 3], ["type": "null"],
                        ],
                        "description": "How many.",
                    ],
                    "tags": [
                        "type": "array", "items": ["type": "string", "enum": ["a", "b"]],
                        "minItems": 0, "maxItems": 2, "uniqueItems": true, "description": "Tags.",
                    ],
                ],
            ])
    }

    @Test func `a schema counts Unicode scalars, not bytes`() throws {
        try Schema.text(1...2).check("éé")
        #expect(throws: SchemaViolation.self) { try Schema.text(1...2).check("ééé") }
    }

    @Test func `a schema's violation shortens a long unknown name`() {
        let name = String(repeating: "x", count: 5000)
        let error = #expect(throws: SchemaViolation.self) { try order.check([name: 1]) }
        #expect((error?.field.utf8.count ?? 5000) < 200)
    }
}

@Suite struct `A pattern` {
    @Test(arguments: [
        ("a", true), ("a-b", true), ("", false), ("-a", false), ("a-", false), ("A", false),
        (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
        ("a\n", false), ("é", false),
    ])
    func `the pattern of a label matches labels alone`(_ text: String, _ matches: Bool) {
        #expect(Names.label.matches(text) == matches)
    }

    @Test(arguments: [
        (Fields.realm, "Bad Realm!"), (Fields.realm, ""), (Fields.id, "abc"),
        (AccountView.email, "a"),
        (.text(1...259, Names.host), "https://login.example.org/"),
        (.text(8...2000, Names.webAddress), "login.example.org"),
    ])
    func `a pattern's violation is told in words`(_ schema: Schema, _ text: String) throws {
        let wrong = try #require(throws: SchemaViolation.self) {
            try schema.check(.string(text), field: "it")
        }
        guard case .malformed(let said) = wrong.reason else {
            Issue.record("\(wrong)")
            return
        }
        #expect(said.hasPrefix("must be a") && said.contains("such as"), "\(said)")
        #expect(!said.contains("^"))
    }

    @Test func `a pattern is printed for every dialect`() {
        #expect(Names.label.expression == #"^[a-z0-9](?:[\x2da-z0-9]{0,61}[a-z0-9])?$"#)
    }

    @Test func `a pattern supports alternatives and repetitions`() {
        let pattern = Pattern.sequence([
            .either([.text("ab"), .text("a")]), .times(.either([.text("b"), .text("bb")]), 1...2),
        ])
        for text in ["ab", "abb", "abbb", "abbbbb"] { #expect(pattern.matches(text)) }
        for text in ["a", "abbbbbb", "b", ""] { #expect(!pattern.matches(text)) }
    }

    /// What a backtracking matcher would take years for.
    @Test func `a pattern takes linear time on hostile texts`() {
        let pattern = Pattern.times(.times(.some(Characters("a"), 1...9), 1...9), 1...9)
        let text = String(repeating: "a", count: 50) + "!"
        let start = ContinuousClock.now
        #expect(!pattern.matches(text))
        #expect(ContinuousClock.now - start < .seconds(10))
    }
}
