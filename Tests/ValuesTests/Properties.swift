import Values

/// What must hold for any bytes, read as text in every encoding and written again; the sentence
/// says what broke. Tests and fuzzers share it.
func brokenEncodingProperty(of bytes: [UInt8]) -> String? {
    if Base64URL.decode(Base64URL.encode(bytes)) != bytes { return "base64url loses bytes" }
    if Base64.decode(Base64.encode(bytes)) != bytes { return "base64 loses bytes" }
    if Hex.decode(Hex.encode(bytes)) != bytes { return "hex loses bytes" }
    if Base32.decode(Base32.encode(bytes)) != bytes { return "base32 loses bytes" }
    let text = String(decoding: bytes, as: UTF8.self)
    if let read = Base64URL.decode(text), Base64URL.encode(read) != text {
        return "base64url has two spellings"
    }
    if let read = Base64.decode(text), Base64.encode(read) != text {
        return "base64 has two spellings"
    }
    if let read = Base32.decode(text), Base32.encode(read) != text.uppercased() {
        return "base32 has two spellings"
    }
    if let read = Hex.decode(text), Hex.encode(read) != text.lowercased() {
        return "hex is read wrongly"
    }
    return nil
}

/// The same for identifiers and instants.
func brokenTextProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if let id = UUID(text) {
        if id.description != text.lowercased() { return "an identifier is read wrongly" }
        if UUID(bytes: id.bytes) != id { return "an identifier loses bytes" }
    }
    if let time = Timestamp(rfc3339: text) {
        if Timestamp(rfc3339: time.description) != time { return "an instant is written wrongly" }
    }
    if bytes.count >= 8 {
        let number = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let time = Timestamp(microseconds: number)
        if let read = Timestamp(rfc3339: time.description), read != time {
            return "an instant is read wrongly"
        }
        _ = Timestamp(seconds: number).adding(microseconds: number).seconds
    }
    return nil
}
