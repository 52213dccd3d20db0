internal import Values

/// The domain of a mail address in its one form: ASCII, small letters, other letters as `xn--`
/// labels (RFC 5891).
struct DomainName {
    enum Fault: Error {
        case malformed
        /// Letters of scripts that do not belong together, or that look like other letters.
        case lookAlike
    }

    let ascii: String
    /// The same for people, with the letters themselves.
    let shown: String

    init(_ text: String) throws(Fault) {
        let parts = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts.count <= 127 else { throw .malformed }
        var labels: [Label] = []
        for part in parts { labels.append(try Label(Array(part))) }
        guard let top = labels.last, !top.isNumber, top.ascii.utf8.count >= 2 else {
            throw .malformed
        }
        for label in labels {
            if let script = label.script, script.couldBeLatin(label.letters), script != top.script {
                throw .lookAlike
            }
        }
        // The direction of a whole name must not depend on where it is shown (RFC 5893).
        if labels.contains(where: { $0.script?.isRightToLeft == true }) {
            guard labels.allSatisfy(\.beginsWithLetter) else { throw .malformed }
        }
        ascii = labels.map(\.ascii).joined(separator: ".")
        shown = labels.map(\.shown).joined(separator: ".")
        guard ascii.utf8.count <= 253 else { throw .malformed }
    }
}

private struct Label {
    let ascii: String
    let shown: String
    let script: Script?
    let letters: [Unicode.Scalar]
    let beginsWithLetter: Bool

    var isNumber: Bool { letters.isEmpty }

    init(_ written: [Unicode.Scalar]) throws(DomainName.Fault) {
        guard (1...63).contains(written.count) else { throw .malformed }
        // Nearly all are of plain letters, which need not be looked up.
        var scalars =
            written.allSatisfy(\.isASCII)
            ? written.map { Unicode.Scalar(lowercased(UInt8(truncatingIfNeeded: $0.value))) }
            : written.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
        if scalars.starts(with: "xn--".unicodeScalars) {
            let tail = String(String.UnicodeScalarView(scalars.dropFirst(4)))
            // One label, one text: what another encoder would write differently is refused.
            guard let decoded = Punycode.decode(tail), !decoded.allSatisfy(\.isASCII),
                Punycode.encode(decoded) == tail
            else { throw .malformed }
            scalars = decoded
        }
        guard scalars.first != "-", scalars.last != "-",
            !(scalars.count >= 4 && scalars[2] == "-" && scalars[3] == "-")
        else { throw .malformed }
        letters = scalars.filter { $0 != "-" && !("0"..."9").contains($0) }
        script = try Label.script(of: letters)
        beginsWithLetter = scalars.first == letters.first
        shown = String(String.UnicodeScalarView(scalars))
        if scalars.allSatisfy(\.isASCII) {
            ascii = shown
        } else {
            guard let encoded = Punycode.encode(scalars) else { throw .malformed }
            ascii = "xn--" + encoded
        }
        guard ascii.utf8.count <= 63 else { throw .malformed }
    }

    private static func script(of letters: [Unicode.Scalar]) throws(DomainName.Fault) -> Script? {
        var found: Script?
        for letter in letters {
            guard let script = Script(letter) else {
                // A letter that we know nothing of may look like any; anything else is no letter.
                throw letter.properties.isAlphabetic && !letter.isASCII ? .lookAlike : .malformed
            }
            if let found, found != script { throw .lookAlike }
            found = script
        }
        return found
    }
}
