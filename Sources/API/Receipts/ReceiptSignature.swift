internal import Cryptography
internal import HTTP
internal import Identity
internal import Values

/// By what a receipt shows that it comes from the gateway: each kind in its own way.
enum ReceiptSignature {
    /// HMAC-SHA-1 with the auth token, of the address and all members in the order of their names:
    /// https://www.twilio.com/docs/usage/security
    static func isTwilios(
        _ shown: String, of body: [UInt8], at addresses: [String], secret: String
    ) -> Bool {
        guard let tag = Base64.decode(shown), let pairs = Form.parse(body) else { return false }
        let members = pairs.sorted {
            ($0.name, $0.value) < ($1.name, $1.value)
        }.map { $0.name + $0.value }.joined()
        var isValid = false
        for address in addresses {
            let expected = try? HMACSHA1.authenticate(
                Array((address + members).utf8), key: SecretBytes(Array(secret.utf8)))
            if let expected, constantTimeEqual(tag, expected) { isValid = true }
        }
        return isValid
    }

    /// HMAC-SHA-256 with the app's secret, of the body's bytes:
    /// https://developers.facebook.com/docs/graph-api/webhooks/getting-started
    static func isMetas(_ shown: String, of body: [UInt8], secret: String) -> Bool {
        let parts = shown.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0] == "sha256", let tag = Hex.decode(String(parts[1])) else {
            return false
        }
        return HMACKey(Array(secret.utf8)).isValid(tag, for: body)
    }

    /// A gateway of one's own shows what it is shown.
    static func isBearer(_ line: String, secret: String) -> Bool {
        guard let text = AuthorizationLine.text(of: line, by: "bearer") else { return false }
        return isEqual(text, secret)
    }

    /// In a time that tells nothing of the secret, of whichever lengths they are.
    static func isEqual(_ shown: String, _ secret: String) -> Bool {
        constantTimeEqual(SHA256.hash(Array(shown.utf8)), SHA256.hash(Array(secret.utf8)))
    }
}
