import Testing

@testable import Mail

@Suite struct `The language of a reader` {
    @Test(
        arguments: [
            ("de", .german), ("de-AT,en;q=0.8", .german), ("fr, de ; q=0.5, en;q=0.4", .german),
            ("en;q=0.1,de;q=0.9", .german), ("de;q=0.9,en", .english), ("DE;Q=0.5", .german),
            ("en;q=0.500,de;q=0.501", .german), ("en,de", .english), ("de;q=1.000,en", .german),
            ("de-DE;q=0.2,en;q=0.3,de;q=0.4", .german), ("de;q=0", nil), ("de;q=0.000,fr", nil),
            ("de;q=0,en;q=0.001", .english), ("de;q=2,en;q=0.1", .english), ("de;q=,en", .english),
            ("de;q=0.1234,en;q=0.1", .english), ("de;x=1", nil), ("*", nil), ("", nil), (nil, nil),
        ] as [(String?, MailLanguage?)])
    func `the reader's language is the one with the highest weight`(
        header: String?, language: MailLanguage?
    ) {
        #expect(MailLanguage(accepted: header) == language)
    }
}
