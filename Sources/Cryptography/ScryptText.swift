import COpenSSL

/// `scrypt$N$r$p$salt$key`, what is stored of a passphrase.
///
/// Apart from the computation, because reading is where foreign input is refused: exactly six
/// fields, numbers without sign or leading zeros, Base64 in its one spelling, lengths in bounds.
struct ScryptText {
    let parameters: Scrypt.Parameters
    let salt: [UInt8]
    let key: [UInt8]

    init(parameters: Scrypt.Parameters, salt: [UInt8], key: [UInt8]) {
        self.parameters = parameters
        self.salt = salt
        self.key = key
    }

    init(_ text: String) throws(Failure) {
        let bytes = Array(text.utf8.prefix(513))
        guard bytes.count <= 512 else { throw Failure(.malformed, "a scrypt text is too long") }
        let fields = bytes.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        guard fields.count == 6, fields[0].elementsEqual("scrypt".utf8),
            let cost = ScryptText.number(fields[1]), let blockSize = ScryptText.number(fields[2]),
            let parallelization = ScryptText.number(fields[3]),
            let salt = ScryptText.decode(Array(fields[4])),
            let key = ScryptText.decode(Array(fields[5]))
        else { throw Failure(.malformed, "not scrypt$N$r$p$salt$key") }
        // A key shorter than this could be met by chance, an empty one by anything.
        guard (8...64).contains(salt.count), (16...64).contains(key.count) else {
            throw Failure(.malformed, "a salt or key of a scrypt text is too short or too long")
        }
        parameters = try Scrypt.Parameters(
            cost: cost, blockSize: blockSize, parallelization: parallelization)
        self.salt = salt
        self.key = key
    }

    var encoded: String {
        let numbers = "\(parameters.cost)$\(parameters.blockSize)$\(parameters.parallelization)"
        return "scrypt$\(numbers)$\(ScryptText.encode(salt))$\(ScryptText.encode(key))"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 9 else {
            return nil
        }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        // Four letters for three bytes, and the zero that C wants behind them.
        var letters = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let length = unsafe EVP_EncodeBlock(&letters, bytes, Int32(bytes.count))
        return String(decoding: letters.prefix(Int(length)), as: UTF8.self)
    }

    /// OpenSSL's decoder is lenient about spaces and padding, so the result must encode to the
    /// very same letters.
    private static func decode(_ letters: [UInt8]) -> [UInt8]? {
        guard letters.count % 4 == 0, !letters.isEmpty else { return nil }
        var bytes = [UInt8](repeating: 0, count: letters.count / 4 * 3)
        let length = unsafe EVP_DecodeBlock(&bytes, letters, Int32(letters.count))
        guard length == Int32(bytes.count) else {
            ERR_clear_error()
            return nil
        }
        // It also counts the padding as bytes.
        bytes.removeLast(letters.suffix(2).count { $0 == UInt8(ascii: "=") })
        return encode(bytes).utf8.elementsEqual(letters) ? bytes : nil
    }
}
