/// The scripts in which a label of a domain may be written, each with the letters that are its own.
///
/// Small letters only, and only composed ones: no label can be written in two ways. A script that
/// is added here needs a rule for its look-alikes, and one for its marks if it has any.
enum Script: CaseIterable {
    case latin, greek, cyrillic, armenian, georgian, hebrew, arabic, japanese, hangul

    init?(_ scalar: Unicode.Scalar) {
        guard let script = Script.allCases.first(where: { $0.contains(scalar) }) else { return nil }
        self = script
    }

    var isRightToLeft: Bool { self == .hebrew || self == .arabic }

    private func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .latin: Script.isLatin(scalar)
        case .greek: scalar.value == 0x390 || (0x3AC...0x3CE).contains(scalar.value)
        case .cyrillic:
            switch scalar.value {
            case 0x430...0x45F: true
            // 0x4CF is drawn as a Latin l.
            case 0x48B...0x4FF: scalar.properties.isLowercase && scalar.value != 0x4CF
            default: false
            }
        case .armenian: (0x561...0x586).contains(scalar.value)
        case .georgian: (0x10D0...0x10F0).contains(scalar.value)
        case .hebrew: (0x5D0...0x5EA).contains(scalar.value)
        case .arabic:
            switch scalar.value {
            case 0x620...0x63A, 0x641...0x64A, 0x679, 0x67E, 0x686, 0x688, 0x691, 0x698, 0x6A9,
                0x6AF, 0x6BA, 0x6BE, 0x6C1, 0x6CC, 0x6D2:
                true
            default: false
            }
        case .japanese:
            // Han stands here too: Chinese is written with a part of it.
            switch scalar.value {
            case 0x3005, 0x3041...0x3096, 0x30A1...0x30FA, 0x30FC, 0x3400...0x4DBF,
                0x4E00...0x9FFF:
                true
            default: false
            }
        case .hangul: (0xAC00...0xD7A3).contains(scalar.value)
        }
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x61...0x7A, 0xDF...0xF6, 0xF8...0xFF: true
        // No domain, or drawn as i, q, n or s.
        case 0x131, 0x133, 0x138, 0x140, 0x149, 0x17F: false
        case 0x100...0x17F: scalar.properties.isLowercase
        case 0x199, 0x1A1, 0x1B0, 0x1B4, 0x1CE, 0x1D0, 0x1D2, 0x1D4, 0x219, 0x21B, 0x253, 0x257,
            0x259:
            true
        case 0x1E00...0x1E95, 0x1EA0...0x1EF9: scalar.properties.isLowercase
        default: false
        }
    }

    /// Letters that are drawn as Latin ones: a word of these alone could be taken for another.
    private var lookAlikes: String {
        switch self {
        case .cyrillic: "асеһіјорѕухьпгѵѡ"
        case .greek: "αγηικνορτυχω"
        case .armenian: "ոսօցզհք"
        case .latin, .georgian, .hebrew, .arabic, .japanese, .hangul: ""
        }
    }

    func couldBeLatin(_ letters: [Unicode.Scalar]) -> Bool {
        let lookAlikes = Set(lookAlikes.unicodeScalars)
        return letters.allSatisfy(lookAlikes.contains)
    }
}
