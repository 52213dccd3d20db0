import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `is a form or none`() {
        let seeds = corpus("form")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenFormProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `is a URL or none`() {
        let seeds = corpus("url")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenURLProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `makes headers that nobody can split`() {
        let seeds = corpus("headers")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenHeaderProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
