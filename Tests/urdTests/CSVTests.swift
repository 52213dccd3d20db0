import JSON
import Testing

@testable import urd

@Suite struct `Rows as CSV` {
    private func text(_ csv: CSV) -> String { String(decoding: csv.bytes, as: UTF8.self) }

    @Test func `end as RFC 4180 says, and quote what needs it`() {
        var csv = CSV(titles: ["a", "b"])
        csv.add(["plain", "with, comma"])
        csv.add(["with \"quotes\"", "two\r\nlines"])
        csv.add(["", " space "])
        #expect(
            text(csv)
                == "a,b\r\nplain,\"with, comma\"\r\n\"with \"\"quotes\"\"\",\"two\r\nlines\"\r\n, space \r\n"
        )
    }

    @Test func `have a column for each member of any row, and nothing where it has none`() {
        let csv = CSV(listing: [
            ["b": 1, "a": "x"], ["c": true, "a": .null], ["d": ["e", "f"], "e": ["g": 1]],
        ])
        #expect(
            text(csv)
                == "a,b,c,d,e\r\nx,1,,,\r\n,,true,,\r\n,,,e f,\"{\"\"g\"\":1}\"\r\n")
        #expect(text(CSV(listing: [])) == "\r\n")
    }

    @Test(arguments: [
        "=1+1", "+1", "-1", "@sum(a1)", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "=cmd|' /c calc'!a0",
    ])
    func `hold no formula that somebody wrote`(_ formula: String) {
        #expect(CSV.harmless(formula) == "'" + formula)
        let cells = text(CSV(listing: [["a": .string(formula)], ["a": [.string(formula)]]]))
        #expect(!cells.contains("\n\(formula)"))
        #expect(!cells.contains("\"\(formula)"))
    }

    @Test func `leave numbers and what is harmless as they are`() {
        #expect(text(CSV(listing: [["a": -5]])) == "a\r\n-5\r\n")
        for text in ["a=1", "2026-11-21T01:23:45Z", "", "é"] { #expect(CSV.harmless(text) == text) }
    }
}
