import Testing
import Values

@Suite struct `A UUID` {
    @Test func `a UUID is read in either case and written in lower case`() throws {
        let text = "0194C7A2-7f3e-7abc-8DEF-0123456789ab"
        let id = try #require(UUID(text))
        #expect(id.description == "0194c7a2-7f3e-7abc-8def-0123456789ab")
        #expect(id == UUID(high: 0x0194_C7A2_7F3E_7ABC, low: 0x8DEF_0123_4567_89AB))
        #expect(UUID(id.description) == id)
        #expect(id.version == 7)
    }

    @Test(arguments: [
        "", "0194c7a2", "0194c7a27f3e7abc8def0123456789ab",
        "{0194c7a2-7f3e-7abc-8def-0123456789ab}",
        "0194c7a2-7f3e-7abc-8def-0123456789a", "0194c7a2-7f3e-7abc-8def-0123456789ab0",
        "0194c7a2-7f3e-7abc-8def-0123456789ag", "0194c7a27-f3e-7abc-8def-0123456789ab",
        "0194c7a2 7f3e 7abc 8def 0123456789ab", " 194c7a2-7f3e-7abc-8def-0123456789ab",
        "0194c7a2-7f3e-7abc-8def-0123456789é", "----0194c7a27f3e7abc8def0123456789ab",
        "0194c7a2-7f3e-7abc-8def-+123456789ab", "urn:uuid:0194c7a2-7f3e-7abc-8def-0123456789ab",
    ])
    func `a UUID in any other form is refused`(text: String) {
        #expect(UUID(text) == nil)
    }

    @Test func `a UUID needs exactly sixteen bytes`() throws {
        let bytes = Array(UInt8(0xF0)...0xFF)
        let id = try #require(UUID(bytes: bytes))
        #expect(id.bytes == bytes)
        #expect(id.description == "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff")
        #expect(UUID(bytes: []) == nil)
        #expect(UUID(bytes: Array(bytes.dropLast())) == nil)
        #expect(UUID(bytes: bytes + [0]) == nil)
        #expect(UUID.zero.bytes == [UInt8](repeating: 0, count: 16))
    }

    @Test func `a UUID sorts like its bytes and its text`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let ids = (0..<500).map { _ in UUID(high: random.next() >> 60, low: random.next()) }
        let sorted = ids.sorted()
        #expect(sorted == ids.sorted { $0.description < $1.description }, "seed \(seed)")
        #expect(
            sorted == ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }, "seed \(seed)")
    }
}

@Suite struct `A version 7 UUID` {
    @Test func `a version 7 UUID equals the example of RFC 9562 except for its random bits`() throws
    {
        let time = try #require(Timestamp(rfc3339: "2022-02-22T19:22:22.000000Z"))
        var random = SeededGenerator(seed: 1)
        let id = UUID.v7(at: time, using: &random)
        #expect(id.description.hasPrefix("017f22e2-79b0-7000-"))
        #expect(id.low >> 62 == 2)
    }

    @Test func `a version 7 UUID sorts by its microsecond`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var last = UUID.zero
        for step in 0..<5_000 {
            let time = Timestamp(microseconds: 1_795_224_225_000_000 + Int64(step))
            let id = UUID.v7(at: time, using: &random)
            #expect(last < id, "seed \(seed), step \(step)")
            #expect(id.timestamp == time)
            last = id
        }
    }

    @Test func `a version 7 UUID differs from others of the same instant`() {
        var random = SystemRandomNumberGenerator()
        let time = Timestamp(microseconds: 1_795_224_225_000_000)
        let ids = Set((0..<1_000).map { _ in UUID.v7(at: time, using: &random) })
        #expect(ids.count == 1_000)
    }

    @Test(
        arguments: [
            (.min, 0), (-1, 0), (0, 0), (281_474_976_710_655_999, 281_474_976_710_655_999),
            (281_474_976_710_656_000, 281_474_976_710_655_999), (.max, 281_474_976_710_655_999),
        ] as [(Int64, Int64)])
    func `a version 7 UUID stays within the years that it can express`(
        microseconds: Int64, kept: Int64
    ) {
        var random = SeededGenerator(seed: 1)
        let id = UUID.v7(at: Timestamp(microseconds: microseconds), using: &random)
        #expect(id.version == 7)
        #expect(id.timestamp == Timestamp(microseconds: kept))
    }

    @Test func `a version 7 UUID of another maker has its time in milliseconds`() throws {
        let id = try #require(UUID("017f22e2-79b0-7fff-98c4-dc0c0c07398f"))
        #expect(id.timestamp?.microseconds == 1_645_557_742_000_999)
    }

    @Test func `a UUID of another version has no time`() throws {
        #expect(UUID.zero.timestamp == nil)
        let random = try #require(UUID("919108f7-52d1-4320-9bac-f847db4148a8"))
        #expect(random.timestamp == nil)
        let foreignVariant = try #require(UUID("017f22e2-79b0-7cc3-18c4-dc0c0c07398f"))
        #expect(foreignVariant.timestamp == nil)
    }
}

@Suite struct `A version 8 UUID` {
    @Test func `a version 8 UUID is the digest with version and variant set`() {
        let digest = [UInt8](repeating: 0xFF, count: 32)
        #expect(UUID.v8(digest).description == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(UUID.v8([]).description == "00000000-0000-8000-8000-000000000000")
        #expect(UUID.v8([1, 2, 3]).description == "01020300-0000-8000-8000-000000000000")
    }

    @Test func `a version 8 UUID takes the first sixteen bytes alone`() {
        let digest = Array(UInt8(0)..<32)
        #expect(UUID.v8(digest) == UUID.v8(Array(digest.prefix(16))))
        #expect(UUID.v8(digest) != UUID.v8(Array(digest.dropFirst())))
    }
}
