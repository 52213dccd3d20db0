import JSON
import Testing
import Values

@testable import urd

@Suite struct `Rows as CSV` {
    private func text(_ csv: CSV) -> String { String(decoding: csv.bytes, as: UTF8.self) }

    @Test func `rows in CSV end as in RFC 4180 and quote what needs it`() {
        var csv = CSV(titles: ["a", "b"])
        csv.add(["plain", "with, comma"])
        csv.add(["with \"quotes\"", "two\r\nlines"])
        csv.add(["", " space "])
        #expect(
            text(csv)
                == "a,b\r\nplain,\"with, comma\"\r\n\"with \"\"quotes\"\"\",\"two\r\nlines\"\r\n, space \r\n"
        )
    }

    @Test func `rows in CSV have their list's columns on every page, also on an empty one`() {
        let columns = ["b", "a", "c", "d", "e"]
        let csv = CSV(
            listing: [
                ["b": 1, "a": "x"], ["c": true, "a": .null], ["d": ["e", "f"], "e": ["g": 1]],
            ], columns: columns)
        #expect(
            text(csv)
                == "b,a,c,d,e\r\n1,x,,,\r\n,,true,,\r\n,,,e f,\"{\"\"g\"\":1}\"\r\n")
        #expect(text(CSV(listing: [["a": "x"]], columns: columns)) == "b,a,c,d,e\r\n,x,,,\r\n")
        #expect(text(CSV(listing: [], columns: columns)) == "b,a,c,d,e\r\n")
    }

    @Test func `rows in CSV come with a table that leaves empty and nested members out`() {
        let table = Table(
            listing: [["b": 1, "d": ["x": 1]], ["c": "z", "a": .null]],
            columns: ["c", "b", "a", "d"])
        #expect(table.render() == "C  B\n-  1\nz  -")
    }

    @Test(arguments: [
        "=1+1", "+1", "-1", "@sum(a1)", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "=cmd|' /c calc'!a0",
    ])
    func `rows in CSV contain no formula from a user`(_ formula: String) {
        #expect(CSVCell.harmless(formula) == "'" + formula)
        let cells = text(
            CSV(listing: [["a": .string(formula)], ["a": [.string(formula)]]], columns: ["a"]))
        #expect(!cells.contains("\n\(formula)"))
        #expect(!cells.contains("\"\(formula)"))
    }

    @Test func `rows in CSV keep numbers and harmless texts as they are`() {
        #expect(text(CSV(listing: [["a": -5]], columns: ["a"])) == "a\r\n-5\r\n")
        for text in ["a=1", "2026-11-21T01:23:45Z", "", "é"] {
            #expect(CSVCell.harmless(text) == text)
        }
    }
}
