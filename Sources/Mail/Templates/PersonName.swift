/// A name that a user gave for themselves or their device, made safe for a mail to another person.
///
/// Who signs up with another's address chooses the name in the mail that the other gets: it must
/// not be an advertisement. A name that could be read as a link, an address or a telephone number,
/// or that is longer than names are, is not shown at all.
func personName(_ name: String?) -> String? {
    guard let name else { return nil }
    let line = singleLine(name, maximum: 64)
    let scalars = Array(line.unicodeScalars)
    guard !scalars.isEmpty, line.count <= 40,
        scalars.contains(where: { $0.properties.isAlphabetic }),
        scalars.count(where: { $0.properties.numericType != nil }) <= 4
    else { return nil }
    for (index, scalar) in scalars.enumerated() {
        switch scalar {
        case " ", "-", "'", "’", "(", ")", ",", "&", "+": continue
        case ".":
            // "Dr. Bauer" and "J. R.", but not "example.org".
            guard index > 0, scalars[index - 1] != " ",
                index + 1 == scalars.count || scalars[index + 1] == " "
            else { return nil }
        default:
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber, .letterNumber:
                continue
            default: return nil
            }
        }
    }
    return line
}
