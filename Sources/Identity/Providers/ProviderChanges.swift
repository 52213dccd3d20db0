package import EventSourcing
package import Values

/// The changes of a provider.
package enum ProviderChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Providers>, Rejection>
    package typealias NotFound = Identity.NotFound<Providers>

    package enum ConfigureRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
        /// The realm has the maximum number of providers.
        case tooMany(limit: Int)
    }

    /// Takes the word of an OpenID provider on who is there, or says anew who the realm is to it.
    /// - Parameter provider: Without a secret the one that there is stays, as long as it is the same client of the same
    ///   provider.
    package static func configure(_ provider: Provider) -> Change<ConfigureRejection> {
        Change(of: Providers.stream) { facts throws(ConfigureRejection) in
            do throws(FieldFault) { try provider.check() } catch { throw .invalid(error) }
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
    }

    /// Takes a provider's word no more. Who signed in by it has to find another way.
    package static func remove(_ slug: String) -> Change<NotFound> {
        Change(of: Providers.stream) { facts throws(NotFound) in
            guard let provider = facts.thing.state[slug] else { throw .notFound }
            return Decision(ProviderEvent.removed(provider.slug), in: Providers.stream)
        }
    }

    package enum UseDelegatedCodeRejection: Error, Equatable, Sendable {
        /// The code does not exist, or was used.
        case codeOver
    }

    /// Uses a delegated code up for a browser.
    package static func useDelegatedCode(_ code: UUID)
        -> EventSourcing.Change<InRealm<DelegatedCode>, UseDelegatedCodeRejection>
    {
        .init(of: code) { facts throws(UseDelegatedCodeRejection) in
            guard facts.thing.state.terms != nil, !facts.thing.state.isUsed else { throw .codeOver }
            return Decision(DelegatedCodeEvent.used(installation: .zero), in: code)
        }
    }
}

extension Provider {
    fileprivate func check() throws(FieldFault) {
        try require("provider") { () throws(FieldFault.Reason) in
            let slug = slug.utf8
            guard (1...40).contains(slug.count),
                slug.allSatisfy({
                    (0x61...0x7A).contains($0) || TextRule.isDigit($0) || $0 == 0x2D
                })
            else { throw .malformed }
        }
        try require("name") { () throws(FieldFault.Reason) in
            try TextRule.label(name, limit: 60)
        }
        try require("issuer") { () throws(FieldFault.Reason) in
            try WebAddressRule.check(issuer, mayBeLoopback: false, mayHaveQuery: false)
        }
        for (field, text) in [("client_id", clientID), ("client_secret", secret)] {
            guard let text else { continue }
            try require(field) { () throws(FieldFault.Reason) in
                guard (1...1024).contains(text.utf8.count),
                    text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
                else { throw .malformed }
            }
        }
        try require("scope") { () throws(FieldFault.Reason) in
            guard scope.count <= 20 else { throw .tooMany(limit: 20) }
            guard
                scope.allSatisfy({ $0.utf8.count <= 100 && TextRule.isScopeName($0) })
            else { throw .malformed }
        }
    }

    private func require(
        _ field: String, _ rule: () throws(FieldFault.Reason) -> Void
    ) throws(FieldFault) {
        do {
            try rule()
        } catch {
            throw FieldFault(field, error)
        }
    }
}
