/// Which domain passkeys belong to (RP ID): browsers let it be used by the domain itself and its
/// sub-domains, so that the holder of a parent domain of ours could use our passkeys.
public enum PasskeyDomain {
    /// What the app or the realm says, else the realm's primary domain. A client may choose one
    /// below either, and none beside: what it chooses besides counts as nothing at all, for another
    /// domain in its place would lead people to a passkey that they can't use. Nil without a domain.
    public static func id(_ settings: Settings, chosenBy client: String?) -> String? {
        let primary = settings[SettingCatalogue.primaryDomain].map(withoutPort)
        let own = settings[SettingCatalogue.passkeyDomain] ?? primary
        guard let client else { return own.flatMap { isDomain($0) ? $0 : nil } }
        let isOurs = [own, primary].contains { $0.map { isWithin(client, $0) } ?? false }
        return isOurs && isDomain(client) ? client : nil
    }

    /// The domain itself, or one below it.
    static func isWithin(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (Array(name.utf8), Array(domain.utf8))
        guard !domain.isEmpty, name.count >= domain.count,
            name.suffix(domain.count).elementsEqual(domain)
        else { return false }
        let rest = name.dropLast(domain.count)
        return rest.isEmpty || rest.count > 1 && rest.last == UInt8(ascii: ".")
    }

    /// A name of at least two labels, or this machine's. A top domain is everybody's, and browsers
    /// take no address for one.
    static func isDomain(_ name: String) -> Bool {
        guard HostName(name) != nil, !name.utf8.contains(UInt8(ascii: ":")) else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."))
        guard let last = labels.last else { return false }
        return name == "localhost" || labels.count > 1 && !last.allSatisfy(TextRule.isDigit)
    }

    private static func withoutPort(_ host: String) -> String {
        String(decoding: host.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }
}
