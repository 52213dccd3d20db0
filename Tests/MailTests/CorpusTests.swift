import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `is a mail address or none`() {
        let seeds = corpus("address")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenAddressProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `makes a mail that nobody can split`() {
        let seeds = corpus("message") + corpus("address")
        #expect(seeds.count >= 20)
        for seed in seeds {
            let sentence = brokenMessageProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
