/// Patterns that several resources share.
enum Names {
    /// A DNS label in lower case.
    static let label = Pattern.said(
        "a name of lower-case letters, digits and hyphens, such as web-shop",
        .sequence([
            .one(Characters("a-z0-9")),
            .optional(
                .sequence([
                    .some(Characters("-a-z0-9"), 0...61), .one(Characters("a-z0-9")),
                ])),
        ]))

    static let colour = Pattern.said(
        "a colour such as #0050b4",
        .sequence([.text("#"), .some(Characters("0-9a-fA-F"), 6...6)]))

    static let uuid = Pattern.said(
        "an id such as 0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
        .sequence([
            .some(Characters("0-9a-f"), 8...8), .text("-"), .some(Characters("0-9a-f"), 4...4),
            .text("-"), .some(Characters("0-9a-f"), 4...4), .text("-"),
            .some(Characters("0-9a-f"), 4...4), .text("-"),
            .some(Characters("0-9a-f"), 12...12),
        ]))
}

extension Names {
    /// Labels with dots between them, and a port if it is not the usual one.
    static let host = Pattern.said(
        "a host name in lower case and without a scheme, such as login.example.org",
        .sequence([
            label, .times(.sequence([.text("."), label]), 0...126),
            .optional(
                .sequence([
                    .text(":"), .one(Characters("1-9")), .some(Characters("0-9"), 0...4),
                ])),
        ]))

    /// What may stand in a URI after its scheme.
    static let uriCharacters = Characters("-._~:/?#[]@!$&'()*+,;=%a-zA-Z0-9")

    static let webAddress = Pattern.said(
        "an address such as https://login.example.org",
        .sequence([
            .either([.text("https://"), .text("http://")]), .some(uriCharacters, 1...1992),
        ]))

    /// A scheme with a dot in it, or one of the web's.
    static let redirectURI = Pattern.said(
        "an address such as https://app.example.org/callback or org.example.app:/callback",
        .sequence([
            .one(Characters("a-zA-Z")), .some(Characters("-+.a-zA-Z0-9"), 0...100), .text(":"),
            .some(uriCharacters, 1...1997),
        ]))

    /// The same, or what stands for many addresses in the list of a tenant.
    static let redirectPlace = Pattern.said(
        "an address such as https://app.example.org/callback or org.example.app:/callback",
        .either([
            .text("*"),
            .sequence([
                .one(Characters("a-zA-Z")), .some(Characters("-+.a-zA-Z0-9"), 0...100),
                .text(":"), .some(uriCharacters, 0...1997),
            ]),
        ]))

    /// Names with single spaces between them (RFC 6749 section 3.3).
    static let scope = Pattern.optional(
        .sequence([
            scopeName, .times(.sequence([.text(" "), scopeName]), 0...99),
        ]))

    private static let scopeName = Pattern.some(
        Characters(0x21...0x21, 0x23...0x5B, 0x5D...0x7E), 1...128)

    static let mailAddress = Pattern.said(
        "a mail address such as ann@example.org",
        .sequence([
            .some(Characters("-!#$%&'*+/=?^_`{|}~.a-zA-Z0-9"), 1...64), .text("@"), label,
            .times(.sequence([.text("."), label]), 0...126),
        ]))

    /// A name to show, as Identity wants it: something to see in it, and nothing that moves or
    /// hides other text.
    static func showable(_ limit: Int) -> Pattern {
        .said(
            "a text of 1 to \(limit) characters, on one line, with something to see in it",
            .sequence([
                .some(Characters(oneOf: spaces), 0...(limit - 1)),
                .one(Characters(except: disruptive + spaces)),
                .some(Characters(except: disruptive), 0...(limit - 1)),
            ]))
    }

    private static let spaces: [ClosedRange<UInt32>] = [
        0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000,
    ]

    private static let disruptive: [ClosedRange<UInt32>] = [
        0...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
        0xFEFF...0xFEFF,
    ]
}
