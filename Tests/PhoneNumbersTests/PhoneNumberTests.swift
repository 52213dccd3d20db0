import Testing

@testable import PhoneNumbers

@Suite struct `Phone numbers` {
    /// What libphonenumber publishes as the example of a mobile number, and as people write it there.
    static let examples = [
        ("AT", "+43664123456", "0664 123456"), ("AU", "+61412345678", "0412 345 678"),
        ("BE", "+32470123456", "0470 12 34 56"), ("BR", "+5511961234567", "(11) 96123-4567"),
        ("CA", "+15062345678", "(506) 234-5678"), ("CH", "+41781234567", "078 123 45 67"),
        ("CZ", "+420601123456", "601 123 456"), ("DE", "+4915123456789", "01512 3456789"),
        ("DK", "+4532123456", "32 12 34 56"), ("ES", "+34612345678", "612 34 56 78"),
        ("FI", "+358412345678", "041 2345678"), ("FR", "+33612345678", "06 12 34 56 78"),
        ("GB", "+447400123456", "07400 123456"), ("IN", "+918123456789", "081234 56789"),
        ("IT", "+393123456789", "312 345 6789"), ("JP", "+819012345678", "090-1234-5678"),
        ("NL", "+31612345678", "06 12345678"), ("NO", "+4740612345", "406 12 345"),
        ("PL", "+48512345678", "512 345 678"), ("PT", "+351912345678", "912 345 678"),
        ("SE", "+46701234567", "070-123 45 67"), ("US", "+12015550123", "(201) 555-0123"),
    ]

    @Test(arguments: examples)
    func `the published example of a country is read in both its forms`(
        region: String, international: String, national: String
    ) throws {
        let example = try #require(PhoneNumber.example(region, .mobile))
        #expect(example.text == international)
        for number in [
            try PhoneNumber(international), try PhoneNumber(national, region: region),
            try PhoneNumber(international, region: "NZ"),
        ] {
            #expect(number == example)
            #expect(number.region == region)
            #expect(number.kind.takesMessages)
        }
    }

    @Test(arguments: [
        "+41 78 123 45 67", "0041 78 123 45 67", "+41-78-123-45-67", "+41 (0)78 123 45 67",
        "078/123.45.67", "＋４１ ７８ １２３ ４５ ６７", "٠٧٨ ١٢٣ ٤٥ ٦٧", "०७८ १२३ ४५ ६७",
        "\u{202A}+41 78 123 45 67\u{202C}", "+41\u{A0}78\u{2009}123\u{2011}45\u{2013}67",
        "  078 123 45 67  ",
    ])
    func `one number has one form however it is written`(typed: String) throws {
        #expect(try PhoneNumber(typed, region: "CH").text == "+41781234567")
    }

    @Test(arguments: [
        "", " ", "+", "ann@example.org", "+41 78 12E 45 67", "1-800-FLOWERS", "+41781234567;ext=4",
        "+41 78 123 45 67 x4", "tel:+41781234567", "+41781234567\n", "+41781234567\0", "1",
        // Letters that look like digits, and a plus that is none.
        "+41 78 l23 45 67", "+41 78 123 45 6О", "⁺41781234567", "+41 ⑦8 123 45 67",
        String(repeating: "0", count: 200),
    ])
    func `what is no number is refused`(typed: String) {
        #expect(throws: PhoneNumber.Fault.unreadable) { try PhoneNumber(typed, region: "CH") }
    }

    @Test func `a number that says no country needs one`() throws {
        #expect(throws: PhoneNumber.Fault.needsCountry) { try PhoneNumber("078 123 45 67") }
        #expect(throws: PhoneNumber.Fault.needsCountry) {
            try PhoneNumber("078 123 45 67", region: "XX")
        }
    }

    @Test(arguments: [
        "+41 78 123", "+41 12", "+1 201 155 0123", "+49 999 1234567", "+44 7400 12345",
    ])
    func `a number that no country gives out is refused`(typed: String) {
        #expect(throws: PhoneNumber.Fault.unknown) { try PhoneNumber(typed) }
    }

    @Test(arguments: [
        ("CH", PhoneNumber.Kind.premiumRate), ("US", .premiumRate), ("DE", .premiumRate),
        ("GB", .premiumRate), ("GB", .personal), ("CH", .sharedCost), ("DE", .tollFree),
        ("GB", .pager), ("CH", .universalAccess), ("CH", .voicemail), ("DE", .fixedLine),
        ("FR", .voip),
    ])
    func `only mobile numbers take messages`(region: String, kind: PhoneNumber.Kind) throws {
        let example = try #require(PhoneNumber.example(region, kind))
        #expect(example.kind == kind)
        #expect(!example.kind.takesMessages)
        #expect(try PhoneNumber(example.text) == example)
    }

    @Test func `a block is a number without its last four digits`() throws {
        #expect(try PhoneNumber("+41781234567").block == "+4178123")
        #expect(try PhoneNumber("+41781239999").block == "+4178123")
        // Niue: four digits and more of a country that has few.
        let short = try PhoneNumber("+6838884012")
        #expect(short.block.hasPrefix("+683") && short.block.utf8.count > 5)
    }

    @Test func `regions are those of ISO 3166`() {
        #expect(PhoneNumber.hasRegion("CH"))
        for name in ["XX", "ch", "", "001", "CHE"] { #expect(!PhoneNumber.hasRegion(name)) }
    }
}
