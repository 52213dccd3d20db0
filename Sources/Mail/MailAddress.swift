/// A mail address in the one form in which accounts keep it, compare it and write to it.
///
/// There is no other form: a mail never goes to what somebody typed but to what an account is
/// found by, so that no spelling can lead a code astray. The rules are in
/// docs/decisions/0010-mail-addresses.md.
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

    public init(_ written: String) throws(Fault) {
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

/// An address is personal: it is shown where somebody asks for it, and in no log line by accident.
extension MailAddress: CustomStringConvertible, CustomReflectable {
    public var description: String { "a mail address" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
