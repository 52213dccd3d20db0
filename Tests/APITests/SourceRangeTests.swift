import Testing

@testable import API

@Suite struct `A range of addresses as sources` {
    @Test(arguments: [
        ("203.0.113.7", ["203.0.113.7"]), ("::ffff:203.0.113.7", ["203.0.113.7"]),
        ("203.0.113.7/32", ["203.0.113.7"]),
        ("203.0.113.4/30", ["203.0.113.4", "203.0.113.5", "203.0.113.6", "203.0.113.7"]),
        ("2001:db8::1", ["2001:db8::ffff"]), ("2001:db8::/64", ["2001:db8::9"]),
        ("2001:db8::1:0/112", ["2001:db8::9"]),
        ("2001:db8::/62", ["2001:db8::1", "2001:db8:0:1::", "2001:db8:0:2::7", "2001:db8:0:3::"]),
    ])
    func `a range has the sources of its addresses`(range: String, addresses: [String]) throws {
        let found = try #require(SourceRange(range))
        #expect(found.sources == addresses.map { Source($0) })
        #expect(found.count == addresses.count)
    }

    @Test(arguments: [
        ("10.0.0.0/8", 1 << 24), ("0.0.0.0/0", 1 << 32), ("2001:db8::/32", 1 << 32),
        ("::/1", Int.max), ("::/0", Int.max),
    ])
    func `a wide range says how wide it is`(range: String, count: Int) throws {
        #expect(try #require(SourceRange(range)).count == count)
    }

    @Test(arguments: ["", "AS7", "203.0.113", "203.0.113.0/33", "203.0.113.7/24", "2001:db8::/129"])
    func `what is no range is none`(text: String) { #expect(SourceRange(text) == nil) }
}
