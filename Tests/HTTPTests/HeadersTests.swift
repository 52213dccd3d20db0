import HTTP
import Testing

@Suite struct `Header fields` {
    @Test func `header fields are found in any case, the first one first`() {
        let headers: Headers = ["Content-Type": "a", "X-One": "1", "x-ONE": "2"]
        #expect(headers["content-type"] == "a")
        #expect(headers["x-one"] == "1")
        #expect(headers.all("X-one") == ["1", "2"])
        #expect(headers["x-two"] == nil)
        #expect(headers.all("x-two").isEmpty)
        #expect(headers[""] == nil)
    }

    @Test func `header fields keep their order and their spelling`() {
        var headers = Headers()
        headers.append("B", "1")
        headers.append("A", "2")
        headers.append("b", "3")
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["B=1", "A=2", "b=3"])
        #expect(headers.count == 3)
    }

    @Test func `header fields are replaced where the first one stood`() {
        var headers: Headers = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["a"] = "5"
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["a=5", "B=2", "C=4"])
        headers["D"] = "6"
        #expect(headers.map(\.value) == ["5", "2", "4", "6"])
        headers["A"] = nil
        #expect(headers.map(\.value) == ["2", "4", "6"])
        headers.removeAll("d")
        #expect(headers.map(\.value) == ["2", "4"])
    }

    @Test func `header fields with look-alike names are different`() {
        let headers: Headers = ["K": "latin"]
        #expect(headers["\u{212A}"] == nil)
        #expect(headers["k\u{301}"] == nil)
        // These differ in the bit that makes capitals small, and are no letters.
        let marks: Headers = ["^": "1"]
        #expect(marks["~"] == nil)
    }
}

@Suite struct `No header splits a response` {
    @Test(arguments: [
        ("a\r\nSet-Cookie: x=1", "aSet-Cookie: x=1"),
        ("a\nb", "ab"),
        ("a\rb", "ab"),
        ("a\u{0}b", "ab"),
        ("\r\n\r\n<html>", "<html>"),
        ("a\u{B}\u{C}\u{1B}\u{7F}b", "ab"),
        ("\r", ""),
        (" \r\n a \r\n ", "a"),
        ("\ta\tb\t", "a\tb"),
        ("é€😀", "é€😀"),
        // A cast to bytes could make line ends of these.
        ("a\u{10D}\u{10A}b", "a\u{10D}\u{10A}b"),
        ("a\u{2028}\u{85}b", "a\u{2028}\u{85}b"),
    ])
    func `a header's value cannot split a response`(value: String, kept: String) {
        var headers = Headers()
        headers.append("Location", value)
        #expect(headers["location"].map { Array($0.utf8) } == Array(kept.utf8))
        headers["Location"] = value
        #expect(headers["location"].map { Array($0.utf8) } == Array(kept.utf8))
        let literal: Headers = ["X": value]
        #expect(literal["x"].map { Array($0.utf8) } == Array(kept.utf8))
    }

    @Test(arguments: [
        "", " ", "a b", "a:", ":a", "a\r\nb", "a\n", "a\u{0}", "a\t", "é", "a(b)", "\"a\"", "a,b",
        "a/b", "a;b", "a=b", "a@b", "[a]", "{a}", "a\\b", "a?b", "<a>", "a\u{7F}",
    ])
    func `a header's name cannot split a response`(name: String) {
        var headers: Headers = ["Kept": "1"]
        headers.append(name, "value")
        headers[name] = "value"
        #expect(headers.count == 1)
        #expect(headers[name] == nil)
    }

    @Test func `a header of any bytes cannot split a response`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...0x80, using: &random) }
            #expect(brokenHeaderProperty(of: bytes) == nil, "seed \(seed)")
        }
    }

    @Test func `headers are filled with defaults that are not set yet, in any case`() {
        var headers: Headers = ["referrer-policy": "same-origin", "X-One": "1"]
        headers.fill(from: ["Referrer-Policy": "no-referrer", "X-Two": "2"])
        #expect(headers.map(\.name) == ["referrer-policy", "X-One", "X-Two"])
        #expect(headers["Referrer-Policy"] == "same-origin")
    }
}
