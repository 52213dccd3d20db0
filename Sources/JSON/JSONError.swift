/// Why bytes are no JSON that Urd reads, and where. Holds nothing of the input.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case unexpectedEnd
        case unexpectedByte
        case trailingBytes
        case invalidUTF8
        case controlCharacter
        case nullCharacter
        case invalidEscape
        case loneSurrogate
        case duplicateKey
        case leadingZero
        case notAnInteger
        case integerOutOfRange
        case tooDeep
        case tooLarge
    }

    /// Counted in bytes from zero.
    public let offset: Int
    public let reason: Reason

    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "\(reason.description) at byte \(offset)" }
}

extension JSONError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte: "unexpected character"
        case .trailingBytes: "something follows the value"
        case .invalidUTF8: "a string is not valid UTF-8"
        case .controlCharacter: "a control character in a string must be escaped"
        case .nullCharacter: "a string has a null character"
        case .invalidEscape: "invalid escape"
        case .loneSurrogate: "a surrogate stands alone"
        case .duplicateKey: "an object has the same name twice"
        case .leadingZero: "a number begins with a zero"
        case .notAnInteger: "only integers are read, without fraction or exponent"
        case .integerOutOfRange: "the integer is outside of ±(2^53-1)"
        case .tooDeep: "nested too deeply"
        case .tooLarge: "the text is too long"
        }
    }
}
