import Testing

@Suite struct `Every seed of the fuzzers, and what becomes of it` {
    @Test func `every seed of the fuzzers is read as a token, claims and a key without harm`() {
        let seeds = corpus("token")
        #expect(seeds.count >= 10)
        var random = SeededGenerator(seed: 1)
        for seed in seeds {
            expectSound(seed)
            for _ in 0..<400 {
                expectSound(mutated(seed, using: &random))
            }
        }
    }

    private func expectSound(_ bytes: [UInt8]) {
        let sentence = brokenTokenProperty(of: bytes)
        #expect(sentence == nil, "\(String(decoding: bytes, as: UTF8.self))")
    }

    /// A few bytes changed, left out, doubled or moved.
    private func mutated(_ seed: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(bytes[place], at: place)
            case 3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default:
                let sign = Array("\".,:{}[]e-+0\\".utf8).randomElement(using: &random)
                bytes.insert(sign ?? 0, at: place)
            }
        }
        return bytes
    }
}
