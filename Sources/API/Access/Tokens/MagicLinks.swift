internal import HTTP
public import Identity
public import Values

extension TokenMint {
    /// The token that follows from a link's id: 256 bits, which nobody guesses.
    public func magicToken(_ link: UUID) -> String {
        Base64URL.encode(derive("magic link", link.bytes))
    }

    /// What the log keeps of a token. Nil for what is no token.
    func digest(ofMagicToken token: String) -> SecretDigest? {
        guard let bytes = Base64URL.decode(token), bytes.count == 32 else { return nil }
        return SecretDigest(derive("magic link digest", bytes))
    }

    /// What is mailed. To open it signs nobody in, because programs that look for harm in mails open
    /// links as well: the page there asks first.
    public func address(of link: IssuedLink) -> String {
        var address =
            "\(link.base)/magic-login?userId=\(link.account)&token=\(magicToken(link.id))"
        // An application's request is long, and nobody's but the browser's that made it.
        if let path = link.returnPath, !path.text.utf8.starts(with: "/connect/".utf8) {
            address += "&redirect=\(Percent.encode(path.text))"
        }
        return address
    }
}
