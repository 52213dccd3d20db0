import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `every seed of the fuzzers is read as a form or refused`() {
        let seeds = corpus("form")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenFormProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `every seed of the fuzzers is read as a URL or refused`() {
        let seeds = corpus("url")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenURLProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `every seed of the fuzzers makes headers that cannot be split`() {
        let seeds = corpus("headers")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenHeaderProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
