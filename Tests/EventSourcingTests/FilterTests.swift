import EventSourcing
import JSON
import Testing
import Values

/// A small vocabulary of each kind of attribute.
private let vocabulary = FilterVocabulary([
    FilterAttribute("type", .text, choices: ["session.opened", "session.refused"]),
    FilterAttribute("at", .time), FilterAttribute("position", .integer),
    FilterAttribute("stream", .id), FilterAttribute("actor", .text),
    FilterAttribute("reason", .text, .field("reason")),
    FilterAttribute("amr", .text, .field("amr")),
    FilterAttribute("fields.count", .integer, .field("count")),
    FilterAttribute("fields.due", .time, .field("due")),
    FilterAttribute("fields.by", .id, .field("by")),
    FilterAttribute("fields.used", .boolean, .field("used")),
    FilterAttribute("fields.places", [], .field("places")),
])

private let stream = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0001)

private func event(_ open: JSONObject = [:]) throws -> Recorded {
    let leaf = try #require(LeafHash([UInt8](repeating: 7, count: LeafHash.length)))
    return Recorded(
        realm: try #require(RealmID("acme")), position: 42, stream: stream, version: 1,
        name: "session.opened", revision: 1, at: Timestamp(seconds: 1_800_000_000),
        command: .zero, subject: nil, actor: "admin:1", client: nil, correlation: nil, leaf: leaf,
        open: open, personal: .none)
}

private func read(_ text: String) throws(FilterFault) -> FilterExpression {
    try FilterParser.expression(of: text, vocabulary)
}

@Suite struct `A filter's text` {
    private static let full: JSONObject = [
        "reason": "invalid_code", "amr": ["pwd", "otp"], "count": 3, "due": 1_800_000_060,
        "by": .string(stream.description), "used": true, "places": [["city": "Bern"]],
    ]

    @Test(arguments: [
        #"type eq "session.opened""#, #"type ne "session.refused""#, #"actor sw "admin:""#,
        #"actor co "min""#, #"actor ew ":1""#, #"actor gt "admin""#, #"actor lt "b""#,
        "position eq 42", "position ge 42", "position le 42", "position gt 41",
        "not (position lt 42)", "position in [1, 42]", #"at ge "2027-01-15""#,
        #"at lt "2027-01-15T09:00:01+01:00""#, #"at eq "2027-01-15T08:00:00Z""#,
        #"stream eq "0193A0E7-5E0C-8000-9000-000000000001""#, "stream pr",
        #"reason eq "invalid_code""#, #"amr eq "otp""#, #"amr in ["hwk", "pwd"]"#,
        #"not (amr eq "hwk")"#, #"amr ne "hwk""#, "fields.count ge 3", "fields.used eq true",
        "fields.used ne false", #"fields.due gt "2027-01-15T08:00:59Z""#,
        "fields.due eq 1800000060", #"fields.by eq "0193A0E7-5E0C-8000-9000-000000000001""#,
        "fields.places pr", #"TYPE Eq "session.opened" AND Position PR"#,
        #"position eq 1 and position eq 2 or position eq 42"#,
        #"position eq 42 or position eq 1 and position eq 2"#,
        #"not(position eq 1)and(position eq 42)"#, "\tposition\n eq  42 ",
        #"reason eq "invalid\u005fcode""#, "((((position eq 42))))",
    ])
    func `a filter holds for the event that it describes`(text: String) throws {
        #expect(try read(text).holds(for: try event(Self.full)), "\(text)")
        #expect(!FilterExpression.not(try read(text)).holds(for: try event(Self.full)))
    }

    @Test(arguments: [
        #"type eq "session.refused""#, #"actor eq "admin""#, #"actor sw "dmin""#,
        #"actor ew "admin""#, #"actor co "x""#, "position lt 42", "position in [1, 2]",
        #"amr ne "otp""#, #"not (amr eq "otp")"#, "fields.count gt 3", "fields.used eq false",
        #"(position eq 42 or position eq 1) and position eq 2"#,
        #"fields.due lt "2027-01-15T08:01:00Z""#, #"reason eq "INVALID_CODE""#,
        #"stream ne "0193a0e7-5e0c-8000-9000-000000000001""#,
    ])
    func `a filter does not hold for another event`(text: String) throws {
        #expect(!(try read(text).holds(for: try event(Self.full))), "\(text)")
    }

    @Test func `what an event has not is unequal to all, and meets no comparison else`() throws {
        let bare = try event()
        for text in [#"reason ne "x""#, #"not (reason pr)"#, #"not (amr eq "otp")"#] {
            #expect(try read(text).holds(for: bare), "\(text)")
        }
        for text in [
            #"reason eq "x""#, "reason pr", #"reason lt "z""#, #"reason in ["x"]"#,
            #"reason sw """#, "fields.count lt 9", "fields.used ne true and fields.used pr",
        ] {
            #expect(!(try read(text).holds(for: bare)), "\(text)")
        }
        // A field of another type than the filter's is no match, and no fault.
        #expect(!(try read("fields.count eq 3").holds(for: try event(["count": "3"]))))
        let nothing: JSONObject = ["reason": .null, "amr": []]
        #expect(!(try read("reason pr or amr pr").holds(for: try event(nothing))))
    }

    @Test func `texts are compared by their bytes`() throws {
        let composed = try event(["reason": "caf\u{E9}"])
        #expect(try read("reason eq \"caf\u{E9}\"").holds(for: composed))
        #expect(!(try read("reason eq \"cafe\u{301}\"").holds(for: composed)))
        #expect(try read(#"reason gt "cafz""#).holds(for: composed))
    }

    @Test func `a filter's and binds before its or, and its not before both`() throws {
        guard case .any(let parts) = try read("position eq 1 or position eq 2 and position eq 3")
        else { return #expect(Bool(false)) }
        #expect(parts.count == 2)
        guard case .all(let both) = try read("not (position eq 1) and position eq 2") else {
            return #expect(Bool(false))
        }
        guard case .not = both.first else { return #expect(Bool(false)) }
        #expect(try read("position eq 1 and (position eq 2 and stream pr)").conjuncts.count == 3)
    }

    @Test func `the types that a filter names are known, but those that it excludes`() throws {
        let asked = try read(
            #"type eq "session.opened" or (position eq 1 and not (type eq "session.refused"))"#)
        #expect(asked.wanted(of: "type") == ["session.opened"])
    }

    @Test(arguments: [
        #"reason eq "a \"b\" ü""#, "position gt 7 and not (fields.count in [1, -2, 3])",
        #"reason pr or actor sw "x" and (at lt "2026-11-22T12:00:00Z" or position le 3)"#,
        #"not (not (fields.used eq true or fields.by pr)) and stream ne "\#(stream)""#,
        #"(actor eq "a" or actor eq "b") and (actor co "c" or fields.due ge 5)"#,
    ])
    func `a filter that was read is written as a text that is read as the same`(text: String)
        throws
    {
        let filter = try read(text)
        let again = try read(filter.text)
        #expect(again.text == filter.text)
        for open in [Self.full, [:], ["reason": "a \"b\" ü"], ["count": -2], ["due": 5]] {
            let event = try event(open)
            #expect(again.holds(for: event) == filter.holds(for: event))
        }
    }

    @Test func `a filter of nothing is written as one that nothing meets`() throws {
        #expect(try !read(FilterExpression.never.text).holds(for: event(Self.full)))
        #expect(try read(FilterExpression.all([]).text).holds(for: event(Self.full)))
        let mixed = FilterExpression.all([.never, try read("position eq 42")])
        #expect(try !read(mixed.text).holds(for: event(Self.full)))
    }
}

@Suite struct `A text that is no filter` {
    private func fault(_ text: String) -> FilterFault? {
        do throws(FilterFault) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("", 0, "an attribute, not ( or ("), ("   ", 3, "an attribute, not ( or ("),
        ("acter eq \"x\"", 0, "an attribute"), ("position", 8, "one of eq"),
        ("position eq", 11, "a whole number"), ("position eq \"1\"", 12, "a whole number"),
        ("position eq 1.5", 12, "a whole number"), ("position eq 1 1", 14, "and, or, or its end"),
        ("actor eq 1", 9, "a text in quotes"), ("actor eq x", 9, "a text in quotes"),
        ("actor eq \"x", 9, "a text in quotes, written as in JSON"),
        ("actor eq \"\\x\"", 9, "a text in quotes, written as in JSON"),
        ("actor eq \"\\u0000\"", 9, "a text in quotes, written as in JSON"),
        ("actor like \"x\"", 6, "one of eq"), ("stream gt \"x\"", 7, "one of eq, ne, in, pr"),
        ("stream eq \"x\"", 10, "an id in quotes"), ("at ge \"soon\"", 6, "a time in quotes"),
        ("fields.used eq \"true\"", 15, "true or false"), ("fields.places eq \"x\"", 14, "pr"),
        ("(position eq 1", 14, "and, or, or )"), ("position eq 1)", 13, "and, or, or its end"),
        ("not position eq 1", 0, "an attribute"), ("position in 1", 12, "a list such as"),
        ("position in [1", 14, ", or ]"), ("position in []", 13, "a whole number"),
        ("position eq 1 and", 17, "an attribute"), ("and", 0, "an attribute"),
        ("actor[type eq \"x\"]", 5, "one of eq"), ("type eq \"session.opend\"", 8, "a known type"),
        ("actor eq \"\u{1F600}\" ; x", 13, "an attribute, an operator or a value"),
    ])
    func `a fault names its place and what could stand there`(
        text: String, place: Int, expected: String
    ) throws {
        let found = try #require(fault(text), "\(text) is read")
        #expect(found.place == place, "\(text): \(found)")
        #expect(found.expected.hasPrefix(expected), "\(text): \(found)")
        #expect(found.detail.contains("At character \(place + 1) the filter should have"))
    }

    @Test func `a name that is nearly right is told`() throws {
        #expect(fault("acter eq \"x\"")?.detail.contains("did you mean actor?") == true)
        #expect(
            fault("type eq \"session.opend\"")?.detail.contains("did you mean session.opened?")
                == true)
        #expect(fault("quite_other eq \"x\"")?.detail.contains("did you mean") == false)
    }

    @Test func `a filter has a longest length, a most of comparisons and a deepest parenthesis`()
        throws
    {
        let one = "position eq 1"
        let most = Array(repeating: one, count: FilterParser.mostComparisons)
        _ = try read(most.joined(separator: " or "))
        #expect(
            fault((most + [one]).joined(separator: " or "))?.expected == "at most 20 comparisons")
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + one + String(repeating: ")", count: depth)
        }
        _ = try read(nested(FilterParser.deepest))
        #expect(fault(nested(FilterParser.deepest + 1))?.place == FilterParser.deepest)
        let padding = String(repeating: " ", count: FilterParser.mostCharacters - one.count)
        _ = try read(one + padding)
        #expect(fault(one + padding + " ")?.place == FilterParser.mostCharacters)
        let values = Array(repeating: "1", count: FilterParser.mostValues)
        _ = try read("position in [\(values.joined(separator: ","))]")
        #expect(
            fault("position in [\((values + ["1"]).joined(separator: ","))]")?.expected
                == "at most 50 values in a list")
    }

    /// Whatever is sent, the answer is a filter or a fault.
    @Test func `no text ends the process`() {
        var state: UInt64 = 7
        let parts = [
            "position", "eq", "\"", "(", ")", "[", "]", ",", "not", "and", "or", "1", "-", "\\",
            "\u{0}", "é", "pr", "in", " ", "fields.count", "\"x\"",
        ]
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += parts[Int(state >> 33) % parts.count]
                if state >> 62 == 0 { text += " " }
            }
            if let fault = fault(text) { #expect(fault.place <= text.unicodeScalars.count) }
        }
    }
}
