import EventSourcing
import LogTesting
import Testing
import Values

@Suite struct `The id of an event` {
    private let bytes = (0..<32).map { UInt8($0 * 7 % 251) }

    @Test func `an event's id is the first half of its leaf as text`() throws {
        let leaf = try #require(LeafHash(bytes))
        #expect(leaf.bytes == bytes)
        #expect(EventID(leaf).bytes == Array(bytes.prefix(16)))
        #expect(EventID(leaf).description == "evt_" + Base64URL.encode(Array(bytes.prefix(16))))
        #expect(EventID(leaf).description.utf8.count == 26)
    }

    @Test func `an event's id is read back from its text and from no other`() throws {
        let id = EventID(try #require(LeafHash(bytes)))
        #expect(EventID(id.description) == id)
        for text in [
            "", "evt_", String(id.description.dropFirst()), id.description + "A",
            String(id.description.dropLast()), "EVT_" + id.description.dropFirst(4),
            id.description.dropLast() + "=", id.description.dropLast() + "_",
        ] {
            #expect(EventID(text) == nil, "\(text)")
        }
    }

    @Test func `a leaf has 32 bytes and no other number`() {
        #expect(LeafHash(bytes.dropLast()) == nil)
        #expect(LeafHash(bytes + [0]) == nil)
        #expect(LeafHash([UInt8]()) == nil)
    }

    @Test func `two leaves that differ in one byte are two, wherever it stands`() throws {
        let leaf = try #require(LeafHash(bytes))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(try #require(LeafHash(other)) != leaf)
        }
    }
}
