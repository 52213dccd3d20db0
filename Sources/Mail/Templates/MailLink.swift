internal import HTTP

/// A web address that may stand in a mail: absolute, of http or https, without a user.
public struct MailLink: Sendable, Hashable {
    public let url: String

    public init?(_ url: String) {
        guard let parts = URLParts.parse(url), parts.scheme == "https" || parts.scheme == "http",
            !parts.hasUserInfo
        else { return nil }
        self.url = url
    }

    var isEncrypted: Bool { url.lowercased().hasPrefix("https:") }
}
