import Testing

@Suite struct `The seeds of the fuzzer` {
    @Test func `every seed of the fuzzers holds the invariants of ceremonies`() {
        let seeds = corpus("webauthn")
        #expect(!seeds.isEmpty)
        for (index, seed) in seeds.enumerated() {
            #expect(brokenCeremonyProperty(of: seed) == nil, "seed \(index)")
        }
    }

    /// What a fuzzer would do first, without one: a byte changed, left out, or doubled.
    @Test func `every slightly changed seed of the fuzzers holds the invariants of ceremonies`() {
        var generator = SeededGenerator(seed: 20_261_121)
        for seed in corpus("webauthn") {
            for _ in 0..<60 {
                var bytes = seed
                for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                    case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                    case 2: bytes.remove(at: index)
                    default: bytes.insert(bytes[index], at: index)
                    }
                }
                let broken = brokenCeremonyProperty(of: bytes)
                #expect(broken == nil, "\(bytes)")
            }
        }
    }
}
