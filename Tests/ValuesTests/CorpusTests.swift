import Testing

@Suite struct `Every seed of the fuzzers` {
    @Test func `has one spelling in every encoding`() {
        let seeds = corpus("base64url")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenEncodingProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }

    @Test func `is an identifier, an instant or neither`() {
        let seeds = corpus("text")
        #expect(seeds.count >= 10)
        for seed in seeds {
            let sentence = brokenTextProperty(of: seed)
            #expect(sentence == nil, "\(seed)")
        }
    }
}
