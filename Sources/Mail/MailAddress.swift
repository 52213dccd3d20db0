/// A mail address in the one form in which accounts keep it, compare it and write to it.
///
/// There is no other form: a mail never goes to the address as typed but to the one that an account
/// is found by, so that no spelling can lead a code astray. The rules are in decision 0010.
public struct MailAddress: Hashable, Sendable {
    public enum Fault: Error, Hashable, Sendable, CaseIterable {
        case malformed
        case tooLong
        /// The part before the `@` has other characters than mail servers agree about.
        case unsupportedLocalPart
        /// Something that is not seen: a control, a mark of direction, a joiner.
        case invisible
        case malformedDomain
        /// The domain mixes scripts, or looks like another one.
        case lookAlike
    }

    public let localPart: String
    /// ASCII, small letters; other letters in their `xn--` form.
    public let domain: String

    /// `local@domain`, as accounts and mail servers have it.
    public var text: String { localPart + "@" + domain }

    /// The same for people to read, with the letters that the domain has. For their eyes alone: what
    /// is kept, compared and written to is `text`.
    public var shown: String {
        guard let domain = try? DomainName(domain) else { return text }
        return localPart + "@" + domain.shown
    }

    public init(_ written: String) throws(Fault) {
        if let plain = MailAddress(plain: written) {
            self = plain
        } else {
            self = try MailAddress(any: written)
        }
    }

    /// As nearly all are written: small letters, digits and dots, which need no closer look.
    private init?(plain written: String) {
        let bytes = written.utf8Span.span
        guard bytes.count <= 254 else { return nil }
        var sign: Int?
        var start = 0
        var hasLetter = false
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case 0x61...0x7A: hasLetter = true
            case 0x30...0x39: continue
            case UInt8(ascii: "."), UInt8(ascii: "@"):
                // Neither an atom nor a label is empty or longer than the shorter of both limits.
                guard (1...63).contains(index - start) else { return nil }
                if byte == UInt8(ascii: "@") {
                    guard sign == nil else { return nil }
                    sign = index
                }
                start = index + 1
                hasLetter = false
            default: return nil
            }
        }
        // The last label, which is no number and has another one before it.
        guard let sign, sign <= 64, start > sign + 1, hasLetter,
            (2...63).contains(bytes.count - start)
        else { return nil }
        let end = written.utf8.index(written.startIndex, offsetBy: sign)
        localPart = String(written[..<end])
        domain = String(written[written.utf8.index(after: end)...])
    }

    /// An address in any notation.
    init(any written: String) throws(Fault) {
        guard written.utf8.count <= 1024 else { throw .tooLong }
        var scalars = Array(written.unicodeScalars)[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard !scalars.contains(where: isInvisible) else { throw .invisible }
        guard let sign = scalars.lastIndex(of: "@"), sign > scalars.startIndex else {
            throw .malformed
        }
        localPart = try MailAddress.localPart(scalars[..<sign])
        do throws(DomainName.Fault) {
            let written = String(String.UnicodeScalarView(scalars[(sign + 1)...]))
            domain = try DomainName(written).ascii
        } catch {
            switch error {
            case .malformed: throw .malformedDomain
            case .lookAlike: throw .lookAlike
            }
        }
        guard localPart.utf8.count + 1 + domain.utf8.count <= 254 else { throw .tooLong }
    }

    /// A dot-atom of ASCII (RFC 5322 section 3.2.3) without `!` and `%`, by which old servers send a
    /// mail on, and without a dash in front, which programs take for an option.
    private static func localPart(_ scalars: ArraySlice<Unicode.Scalar>) throws(Fault) -> String {
        guard scalars.count <= 64 else { throw .tooLong }
        guard scalars.first != "-" else { throw .unsupportedLocalPart }
        var bytes: [UInt8] = []
        for scalar in scalars {
            guard scalar.isASCII else { throw .unsupportedLocalPart }
            bytes.append(lowercased(UInt8(truncatingIfNeeded: scalar.value)))
        }
        for atom in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard !atom.isEmpty, atom.allSatisfy(isAtomText),
                !atom.contains(UInt8(ascii: "!")), !atom.contains(UInt8(ascii: "%"))
            else { throw .unsupportedLocalPart }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// An address is personal: it is shown where code asks for it, and in no log line by accident.
extension MailAddress: CustomStringConvertible, CustomReflectable {
    public var description: String { "a mail address" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
