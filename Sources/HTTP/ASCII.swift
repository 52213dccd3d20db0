/// An ASCII capital made small; every other byte as it is.
func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
}

func isLetter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(lowercased(byte))
}

func isDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte)
}

/// RFC 3986 section 2.3: never needs an escape.
func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x2D, 0x2E, 0x5F, 0x7E: true
    default: isLetter(byte) || isDigit(byte)
    }
}

/// RFC 3986 section 2.2.
func isSubDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
    default: false
    }
}

func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
}

func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x37 + value & 15
}
