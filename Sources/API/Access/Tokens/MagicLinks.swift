internal import EventSourcing
internal import HTTP
public import Identity
public import Values

/// The mailed links that sign users in.
struct MagicLinks {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// The link that a token belongs to, while it can be redeemed. A look does not use the link up.
    func find(_ user: String, _ token: String) async throws(Problem) -> IssuedLink? {
        guard let id = UUID(user), let shown = context.mint.shown(magicToken: token),
            case let account = try await RealmLookups(context).folded(Account.self, id),
            let mailbox = account.mailbox,
            case let links = try await RealmLookups(context).folded(Mailbox.self, mailbox)
                .liveLinks(of: account, at: context.clock.now())
        else { return nil }
        return links.first { $0.account == id && shown.matches($0.digest) }
    }
}

extension TokenMint {
    /// The token that follows from a link's id: 256 bits, which cannot be guessed.
    public func magicToken(_ link: UUID) -> String {
        Base64URL.encode(derive(.magicLink, link.bytes))
    }

    /// What the log keeps of a token. Nil for what is no token.
    func digest(ofMagicToken token: String) -> SecretDigest? {
        guard let bytes = Base64URL.decode(token), bytes.count == 32 else { return nil }
        return SecretDigest(derive(.magicLinkDigest, bytes))
    }

    /// A token as the client shows it. Nil for what is no token.
    func shown(magicToken token: String) -> ShownSecret? {
        digest(ofMagicToken: token) == nil ? nil : shown { $0.digest(ofMagicToken: token) }
    }

    /// What was mailed, as it was given first. Nil where the key that it follows from is retired.
    func magicToken(of link: IssuedLink) -> String? {
        version { $0.digest(ofMagicToken: $0.magicToken(link.id)) == link.digest }?
            .magicToken(link.id)
    }

    /// The link that confirms a code. Nil where the key that it follows from is retired.
    func address(ofConfirmation code: IssuedCode, to mailbox: UUID) -> String? {
        guard let base = code.base else { return nil }
        return version { $0.digest(ofMagicToken: $0.magicToken(code.id)) == code.digest }.map {
            "\(base)/app/open?to=\(mailbox)&token=\($0.magicToken(code.id))"
        }
    }

    /// What is mailed; nil where the key that it follows from is retired. Opening it signs no user
    /// in, because mail scanners open links as well: the page there asks first.
    public func address(of link: IssuedLink) -> String? {
        guard let token = magicToken(of: link) else { return nil }
        var address = "\(link.base)/magic-login?userId=\(link.account)&token=\(token)"
        // An application's request is long, and is good only in the browser that made it.
        if let path = link.returnPath, !path.text.utf8.starts(with: "/connect/".utf8) {
            address += "&redirect=\(Percent.encode(path.text))"
        }
        return address
    }
}
