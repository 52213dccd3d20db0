import JOSE
import JSON
import Values

/// What must hold for any bytes, read as a token, as claims and as a key; the sentence says what
/// broke. Tests and fuzzers share it.
func brokenTokenProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if (try? ClientAssertion.claimedClient(in: text)) != nil {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for part in parts {
            guard let decoded = Base64URL.decode(part) else { return "a part is no base64url" }
            if Base64URL.encode(decoded) != part { return "a part has two spellings" }
        }
        if parts.count != 3 || parts.contains("") { return "a part is missing" }
    }
    return brokenClaimsProperty(of: bytes) ?? brokenNumberProperty(of: text)
        ?? brokenKeyProperty(of: bytes)
}

private func brokenClaimsProperty(of bytes: [UInt8]) -> String? {
    guard let claims = try? Claims(payload: bytes) else { return nil }
    let again = try? Claims(payload: JSON.object(claims.members).canonical())
    if again != claims { return "claims change when they are written" }
    // What has no fraction is read as it stands.
    if let plain = try? JSON.parse(bytes), plain != .object(claims.members) {
        return "claims are not what they say"
    }
    return nil
}

/// The text as the value of `exp`, against the language's own reader of numbers.
private func brokenNumberProperty(of text: String) -> String? {
    let payload = Array(#"{"exp":\#(text)}"#.utf8)
    guard let claims = try? Claims(payload: payload), claims.members.count == 1,
        let seconds = claims.members["exp"]?.integer
    else { return nil }
    let trimmed = String(text.filter { !" \t\r\n".utf8.contains($0.utf8.first ?? 0) })
    guard let number = Double(trimmed) else { return "a number is none" }
    // A Double rounds where digits end, so that it may be one off.
    let isNear = abs(number.rounded(.towardZero) - Double(seconds)) <= 1
    return isNear ? nil : "a number is read wrongly"
}

private func brokenKeyProperty(of bytes: [UInt8]) -> String? {
    if let set = try? KeySet(parsing: bytes), (try? KeySet(jwks: set.document)) != set {
        return "a set of keys changes when it is written"
    }
    guard let value = try? JSON.parse(bytes), let key = try? VerificationKey(jwk: value) else {
        return nil
    }
    guard let again = try? VerificationKey(jwk: key.jwk) else { return "a key is not read back" }
    if again.material != key.material || again.id != key.id { return "a key changes" }
    for name in ["d", "p", "q", "k"] where value[name] != nil { return "a secret is accepted" }
    return nil
}
