import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `every seed of the fuzzers is parsed and written without harm`() {
        let seeds = corpus("json")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenParserProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `every seed of the fuzzers makes a value that is written canonically`() {
        let seeds = corpus("canonical")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenCanonicalProperty(of: ValueMaker.value(from: seed))
            #expect(sentence == nil, "\(seed)")
        }
    }
}
