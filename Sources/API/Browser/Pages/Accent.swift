/// A realm's colour, and what of it can be read. Buttons have the colour as it was chosen, with black or
/// white letters on it and a rim that is seen on any ground; links are darkened or lightened until they
/// have the contrast of WCAG 2.2 level AA.
struct Accent: Sendable, Equatable {
    /// `rrggbb`, in lower case.
    let digits: String
    private let colour: RGBColor

    static let usual = Accent(RGBColor(red: 0x1F, green: 0x3A, blue: 0x5F))

    /// The colour with or without `#` in front.
    init?(_ text: String) {
        let digits = text.utf8.first == UInt8(ascii: "#") ? String(text.dropFirst()) : text
        guard digits.utf8.count == 6, let number = UInt32(digits, radix: 16),
            digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") })
        else { return nil }
        self.init(
            RGBColor(
                red: Double(number >> 16), green: Double(number >> 8 & 0xFF),
                blue: Double(number & 0xFF)))
    }

    private init(_ colour: RGBColor) {
        self.colour = colour
        digits = colour.digits
    }

    /// The usual colour on dark pages: made lighter by rule it would look like a button that is switched
    /// off.
    private static let usualAtNight =
        "--accent:#7fa6d6;--on-accent:#000;--rim:#7fa6d6;--link:#8fb3e0"

    /// A style sheet of the colour alone.
    var sheet: String {
        let (white, night) = (RGBColor(red: 0xF3, green: 0xF4, blue: 0xF6), RGBColor.night)
        return ":root{\(rules(on: white, towards: .black))}"
            + "@media (prefers-color-scheme:dark){:root{"
            + (self == .usual ? Self.usualAtNight : rules(on: night, towards: .white)) + "}}"
    }

    private func rules(on ground: RGBColor, towards end: RGBColor) -> String {
        let rim = colour.moved(towards: end, until: 3, on: ground)
        let link = colour.moved(towards: end, until: 4.6, on: ground)
        let ink = colour.contrast(.white) >= colour.contrast(.black) ? RGBColor.white : .black
        return "--accent:#\(colour.digits);--on-accent:#\(ink.digits);"
            + "--rim:#\(rim.digits);--link:#\(link.digits)"
    }
}

struct RGBColor: Sendable, Equatable {
    var red: Double
    var green: Double
    var blue: Double

    static let black = RGBColor(red: 0, green: 0, blue: 0)
    static let white = RGBColor(red: 255, green: 255, blue: 255)
    /// What dark pages are drawn on, at its lightest.
    static let night = RGBColor(red: 0x19, green: 0x1C, blue: 0x22)

    var digits: String {
        [red, green, blue].map { part in
            let text = String(UInt8(min(max(part, 0), 255).rounded()), radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
    }

    /// WCAG 2.2: relative luminance.
    var luminance: Double {
        0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    func contrast(_ other: RGBColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    /// As little as is needed for the contrast.
    func moved(towards end: RGBColor, until contrast: Double, on ground: RGBColor) -> RGBColor {
        for step in 0...20 {
            let part = Double(step) / 20
            let moved = RGBColor(
                red: (red + (end.red - red) * part).rounded(),
                green: (green + (end.green - green) * part).rounded(),
                blue: (blue + (end.blue - blue) * part).rounded())
            if moved.contrast(ground) >= contrast { return moved }
        }
        return end
    }

    private static func linear(_ byte: Double) -> Double {
        let part = byte / 255
        if part <= 0.04045 { return part / 12.92 }
        let base = (part + 0.055) / 1.055
        // To the power of 2.4: the square, times the square of the fifth root.
        var root = 1.0
        for _ in 0..<40 {
            let fourth = root * root * root * root
            root = (4 * root + base / fourth) / 5
        }
        return base * base * root * root
    }
}
