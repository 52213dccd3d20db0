internal import Cryptography
internal import Identity
internal import Values

/// What a person types to let a device in: eight consonants, so that they are easily told apart and make
/// no words. Some twenty-five thousand millions of them, and few guesses.
struct UserCode: Sendable, Equatable {
    static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    static let length = 8

    /// Without the dash.
    let plain: String

    static func random() -> UserCode {
        var random = SystemRandom()
        return UserCode(
            plain: String(
                (0..<length).map { _ in
                    letters[Int.random(in: 0..<letters.count, using: &random)]
                }))
    }

    private init(plain: String) { self.plain = plain }

    /// However it was typed: in any case, and with any separators between letters (RFC 8628 section
    /// 6.1).
    init?(typed: String) {
        guard typed.utf8.count <= 64 else { return nil }
        let plain = typed.uppercased().filter { $0.isLetter || $0.isNumber }
        guard plain.count == Self.length, plain.allSatisfy(Self.letters.contains) else {
            return nil
        }
        self.plain = plain
    }

    var text: String { "\(plain.prefix(4))-\(plain.suffix(4))" }
}

extension TokenMint {
    /// The stream of a device, from the code that is typed.
    func device(_ code: UserCode) -> UUID { .v8(derive(.device, Array(code.plain.utf8))) }

    /// What the device itself keeps: it cannot be derived from the code that is typed.
    func deviceCode(_ device: UUID) -> String { write(device.bytes, .deviceCode) }

    func readDeviceCode(_ text: String) -> UUID? {
        read(text, .deviceCode, length: 16).flatMap { UUID(bytes: $0) }
    }
}
