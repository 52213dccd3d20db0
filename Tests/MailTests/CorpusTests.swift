import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `every seed of the fuzzers is read as a mail address or refused`() {
        let seeds = corpus("address")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenAddressProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `every seed of the fuzzers makes a mail that cannot be split`() {
        let seeds = corpus("message") + corpus("address")
        #expect(seeds.count >= 20)
        for seed in seeds {
            let sentence = brokenMessageProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
