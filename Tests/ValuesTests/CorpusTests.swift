import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `every seed of the fuzzers has one spelling in every encoding`() {
        let seeds = corpus("base64url")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenEncodingProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `every seed of the fuzzers is read as an identifier or an instant, or refused`() {
        let seeds = corpus("text")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenTextProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
