internal import Values

func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
}

/// RFC 5322 section 3.2.3: what may stand in an atom.
func isAtomText(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2F, 0x3D, 0x3F, 0x5E...0x60, 0x7B...0x7E: true
    default: false
    }
}

/// Takes room without being seen, turns the text around, or ends a line.
func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isControl(scalar) }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
        .unassigned:
        true
    default:
        scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector
    }
}

/// Leaves something on the screen. The empty pattern of Braille is a sign, and looks like a space.
func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.properties.isWhitespace && !isInvisible(scalar) && scalar.value != 0x2800
}

/// One line for people: nothing invisible, single spaces, at most so many characters.
///
/// Joiners and variation selectors are invisible too, but emoji need them: they stay where they
/// stand behind something that is seen.
func singleLine(_ text: String, maximum: Int) -> String {
    if isPlainLine(text), text.utf8.count <= maximum { return text }
    var output = String.UnicodeScalarView()
    var isAfterSpace = true
    for scalar in text.unicodeScalars.prefix(maximum * 16) {
        let isPart = scalar == "\u{200D}" || scalar == "\u{FE0F}"
        if isPart, !isAfterSpace {
            output.append(scalar)
        } else if isSpace(scalar) {
            if !isAfterSpace { output.append(" ") }
            isAfterSpace = true
        } else if !isInvisible(scalar) {
            output.append(scalar)
            isAfterSpace = false
        }
    }
    if output.last == " " { output.removeLast() }
    return limited(String(output), maximum: maximum)
}

/// ASCII with single spaces between its words: most lines are, and stay what they are.
private func isPlainLine(_ text: String) -> Bool {
    var previous: UInt8 = 0x20
    let isPlain = text.allBytesSatisfy { byte in
        defer { previous = byte }
        return (0x20...0x7E).contains(byte) && (byte != 0x20 || previous != 0x20)
    }
    return isPlain && previous != 0x20
}

/// A character may be one letter and a thousand marks: scalars are counted as well.
private func limited(_ text: String, maximum: Int) -> String {
    if text.utf8.count <= maximum { return text }
    var result = String(text.prefix(maximum))
    if result.unicodeScalars.count > maximum * 4 {
        result = String(String.UnicodeScalarView(result.unicodeScalars.prefix(maximum * 4)))
    }
    while result.utf8.last == 0x20 { result.removeLast() }
    return result
}

/// Controls separate words too.
private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar == " " || isControl(scalar) }
    return scalar.properties.isWhitespace || isControl(scalar)
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
}
