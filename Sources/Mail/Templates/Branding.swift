/// How a realm's mails look and in whose name they speak.
public struct Branding: Sendable, Hashable {
    public let productName: String
    public let accent: Colour
    /// An image behind https, at most 40 points high; the only thing that a mail fetches.
    public let logo: MailLink?
    /// Lines below every mail: the sender and their address.
    public let footer: String

    /// A logo that is not behind https is left out.
    public init(
        productName: String, accent: Colour = .ink, logo: MailLink? = nil, footer: String = ""
    ) {
        self.productName = singleLine(productName, maximum: 60)
        self.accent = accent
        self.logo = logo.flatMap { $0.isEncrypted ? $0 : nil }
        self.footer = footer.split(whereSeparator: \.isNewline).prefix(8)
            .map { singleLine(String($0), maximum: 200) }.joined(separator: "\n")
    }
}

/// An opaque colour, `#rrggbb`.
public struct Colour: Sendable, Hashable {
    public static let ink = Colour(red: 0x1F, green: 0x3A, blue: 0x5F)

    let red: UInt8
    let green: UInt8
    let blue: UInt8

    init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 7, digits[0] == UInt8(ascii: "#"),
            digits.dropFirst().allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x61...0x66).contains(lowercased(byte))
            }),
            let value = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        red = UInt8(truncatingIfNeeded: value >> 16)
        green = UInt8(truncatingIfNeeded: value >> 8)
        blue = UInt8(truncatingIfNeeded: value)
    }

    var css: String {
        "#"
            + [red, green, blue].map { byte in
                let digits = String(byte, radix: 16)
                return digits.utf8.count == 1 ? "0" + digits : digits
            }.joined()
    }

    /// Black or white, whichever can be read better on this colour (WCAG 2.2, relative luminance).
    var ink: String {
        func linear(_ byte: UInt8) -> Double {
            // A square is near enough to the curve of sRGB to tell light from dark.
            let part = Double(byte) / 255
            return part * part
        }
        let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        return luminance > 0.2 ? "#000000" : "#ffffff"
    }
}
