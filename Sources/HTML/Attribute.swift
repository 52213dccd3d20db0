/// An attribute of an element. What it is called is ours, what it says is escaped, and a link leads
/// nowhere but to a web page, a mailbox or a place on this site.
public struct Attribute: Sendable {
    private enum Value {
        case text(String)
        /// A boolean attribute: only its name is written.
        case none
    }

    /// Nil where its condition does not hold: nothing is written.
    private let name: StaticString?
    private let value: Value

    private init(_ name: StaticString, _ text: String) {
        self.name = name
        value = .text(text)
    }

    private init(_ name: StaticString?) {
        self.name = name
        value = .none
    }

    func write(into output: inout [UInt8]) {
        guard let name else { return }
        output.append(UInt8(ascii: " "))
        output.append(literal: name)
        guard case .text(let text) = value else { return }
        output.append(literal: "=\"")
        output.append(escaping: text, isAttribute: true)
        output.append(UInt8(ascii: "\""))
    }

    /// About how many bytes it is written with.
    var size: Int {
        guard case .text(let text) = value else { return 16 }
        return text.utf8.count + 16
    }

    /// Any attribute whose name and value stand in the program.
    public static func fixed(_ name: StaticString, _ value: StaticString) -> Attribute {
        Attribute(name, value.description)
    }

    /// The attribute under a condition.
    public static func when(_ condition: Bool, _ attribute: Attribute) -> Attribute {
        condition ? attribute : Attribute(nil)
    }

    public static func id(_ value: String) -> Attribute { Attribute("id", value) }
    public static func siteKey(_ value: String) -> Attribute { Attribute("data-sitekey", value) }
    public static func `class`(_ value: String) -> Attribute { Attribute("class", value) }
    public static func title(_ value: String) -> Attribute { Attribute("title", value) }
    public static func language(_ value: String) -> Attribute { Attribute("lang", value) }
    public static func role(_ value: String) -> Attribute { Attribute("role", value) }
    public static func style(_ value: String) -> Attribute { Attribute("style", value) }
    public static func alternative(_ value: String) -> Attribute { Attribute("alt", value) }
    public static func name(_ value: String) -> Attribute { Attribute("name", value) }
    public static func content(_ value: String) -> Attribute { Attribute("content", value) }
    public static func charset(_ value: String) -> Attribute { Attribute("charset", value) }
    public static func rel(_ value: String) -> Attribute { Attribute("rel", value) }
    public static func width(_ value: Int) -> Attribute { Attribute("width", String(value)) }
    public static func height(_ value: Int) -> Attribute { Attribute("height", String(value)) }
    public static func label(_ value: String) -> Attribute { Attribute("aria-label", value) }
    public static func describedBy(_ value: String) -> Attribute {
        Attribute("aria-describedby", value)
    }
    public static let hiddenFromReaders = Attribute("aria-hidden", "true")

    // Forms.
    public static func type(_ value: String) -> Attribute { Attribute("type", value) }
    public static func value(_ value: String) -> Attribute { Attribute("value", value) }
    public static func `for`(_ value: String) -> Attribute { Attribute("for", value) }
    public static func method(_ value: String) -> Attribute { Attribute("method", value) }
    public static func placeholder(_ value: String) -> Attribute {
        Attribute("placeholder", value)
    }
    public static func autocomplete(_ value: String) -> Attribute {
        Attribute("autocomplete", value)
    }
    public static func inputMode(_ value: String) -> Attribute { Attribute("inputmode", value) }
    public static func pattern(_ value: String) -> Attribute { Attribute("pattern", value) }
    public static func maximumLength(_ value: Int) -> Attribute {
        Attribute("maxlength", String(value))
    }
    public static let required = Attribute("required")
    public static let autofocus = Attribute("autofocus")
    public static let disabled = Attribute("disabled")
    public static let checked = Attribute("checked")
    public static let selected = Attribute("selected")
    /// Not shown until a script of ours shows it.
    /// In the form of RFC 3339, beside what people read.
    public static func moment(_ value: String) -> Attribute { Attribute("datetime", value) }
    public static let hidden = Attribute("hidden")
    public static let invalid = Attribute("aria-invalid", "true")
    /// Of `details`: what is in there is shown at once.
    public static let open = Attribute("open")

    // Places.
    public static func href(_ place: String) -> Attribute { Attribute("href", safe(place)) }
    public static func source(_ place: String) -> Attribute { Attribute("src", safe(place)) }
    public static func action(_ place: String) -> Attribute { Attribute("action", safe(place)) }

    /// A place that may be an app's as well: its scheme has a dot in it (RFC 8252 section 7.1), which none has
    /// that a browser acts on by itself.
    public static func appHref(_ place: String) -> Attribute {
        let scheme = place.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isScheme =
            scheme.count < place.utf8.count && scheme.first.map(isLetter) == true
            && scheme.allSatisfy {
                isLetter($0) || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2E || $0 == 0x2D
            }
        let isApp =
            isScheme && scheme.contains(UInt8(ascii: "."))
            && place.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x5C }
        return isApp ? Attribute("href", place) : href(place)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
    }

    static let nowhere = "about:invalid"

    /// The URL, when every browser takes it for one of the allowed schemes.
    ///
    /// Browsers drop tabs and line breaks in URLs, trim spaces, and read `\` as `/`: a place with
    /// any of these is none.
    private static func safe(_ place: String) -> String {
        var place = place
        return place.withUTF8(isSafe) ? place : nowhere
    }

    private static func isSafe(_ place: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in place where byte <= 0x20 || byte == 0x7F || byte == 0x5C { return false }
        switch place.first {
        case UInt8(ascii: "/"): return place.count == 1 || place[1] != UInt8(ascii: "/")
        case UInt8(ascii: "#"), UInt8(ascii: "?"): return true
        default:
            return begins(place, "https://") || begins(place, "http://")
                || begins(place, "mailto:")
        }
    }

    /// Schemes are the same in capitals.
    private static func begins(
        _ place: UnsafeBufferPointer<UInt8>, _ scheme: StaticString
    ) -> Bool {
        guard place.count >= scheme.utf8CodeUnitCount else { return false }
        for index in 0..<scheme.utf8CodeUnitCount {
            let byte = place[index]
            let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isCapital ? byte | 0x20 : byte) == scheme.utf8Start[index] else { return false }
        }
        return true
    }
}
