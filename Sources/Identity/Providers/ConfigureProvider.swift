public import EventSourcing
internal import Values

/// Takes the word of an OpenID provider on who is there, or says anew who the realm is to it.
public struct ConfigureProvider: Command {
    /// Without a secret the one that there is stays, as long as it is the same client of the same
    /// provider.
    public var provider: Provider

    public init(_ provider: Provider) {
        self.provider = provider
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
        /// The realm has the maximum number of providers.
        case tooMany(limit: Int)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Providers> {
        try await .read(Providers.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Providers>) throws(Rejection) -> Decision {
        try check()
        let known = facts.thing.state
        var provider = provider
        if let before = known[provider.slug] {
            if provider.secret == nil, before.issuer == provider.issuer,
                before.clientID == provider.clientID
            {
                provider.secret = before.secret
            }
            guard before != provider else { return Decision() }
        } else if known.all.count >= Providers.most {
            throw .tooMany(limit: Providers.most)
        }
        return Decision(ProviderEvent.configured(provider), in: Providers.stream)
    }

    private func check() throws(Rejection) {
        try require("provider") { () throws(FieldFault.Reason) in
            let slug = provider.slug.utf8
            guard (1...40).contains(slug.count),
                slug.allSatisfy({
                    (0x61...0x7A).contains($0) || TextRule.isDigit($0) || $0 == 0x2D
                })
            else { throw .malformed }
        }
        try require("name") { () throws(FieldFault.Reason) in
            try TextRule.label(provider.name, limit: 60)
        }
        try require("issuer") { () throws(FieldFault.Reason) in
            try WebAddressRule.check(provider.issuer, mayBeLoopback: false, mayHaveQuery: false)
        }
        for (field, text) in [("client_id", provider.clientID), ("client_secret", provider.secret)]
        {
            guard let text else { continue }
            try require(field) { () throws(FieldFault.Reason) in
                guard (1...1024).contains(text.utf8.count),
                    text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
                else { throw .malformed }
            }
        }
        try require("scope") { () throws(FieldFault.Reason) in
            guard provider.scope.count <= 20 else { throw .tooMany(limit: 20) }
            guard
                provider.scope.allSatisfy({ $0.utf8.count <= 100 && TextRule.isScopeName($0) })
            else { throw .malformed }
        }
    }

    private func require(
        _ field: String, _ rule: () throws(FieldFault.Reason) -> Void
    ) throws(Rejection) {
        do {
            try rule()
        } catch {
            throw .invalid(FieldFault(field, error))
        }
    }
}
