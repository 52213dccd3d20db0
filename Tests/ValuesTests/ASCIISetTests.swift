import Testing
import Values

@Suite struct `A set of ASCII characters` {
    @Test func `a set of characters holds those it was made of and no others`() {
        let characters: StaticString = "\u{0}?@az~\u{7F}é"
        let set = ASCIISet(characters)
        let members = Set("\u{0}?@az~\u{7F}".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(set.contains(byte) == members.contains(byte), "\(byte)")
        }
    }
}
