package import EventSourcing
internal import Values

/// The changes of a push provider.
package enum PushProviderChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<PushProviders>, Rejection>

    package enum SetRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    /// Says who brings a realm's notifications to devices, and by which key.
    package static func set(_ provider: PushProvider) -> Change<SetRejection> {
        Change(of: PushProviders.stream) { facts throws(SetRejection) in
            do throws(FieldFault) {
                switch provider {
                case .firebase(let provider): try provider.check()
                case .apple(let provider): try provider.check()
                }
            } catch {
                throw .invalid(error)
            }
            let isKnown =
                switch provider {
                case .firebase(let provider): facts.thing.state.firebase == provider
                case .apple(let provider): facts.thing.state.apple == provider
                }
            guard !isKnown else { return Decision() }
            return Decision(PushProviderEvent.set(provider), in: PushProviders.stream)
        }
    }

    package enum RemoveRejection: Error, Equatable, Sendable {
        case notSet
    }

    /// Removes the push provider for devices of one kind from a realm.
    package static func remove(_ kind: PushProvider.Kind) -> Change<RemoveRejection> {
        Change(of: PushProviders.stream) { facts throws(RemoveRejection) in
            let isSet =
                switch kind {
                case .firebase: facts.thing.state.firebase != nil
                case .apple: facts.thing.state.apple != nil
                }
            guard isSet else { throw .notSet }
            return Decision(PushProviderEvent.removed(kind), in: PushProviders.stream)
        }
    }
}

extension FirebaseProvider {
    /// What goes into a path or a header is looked at letter by letter.
    fileprivate func check() throws(FieldFault) {
        try PushProviderRule.name("project_id", project, limit: 63, also: [0x2D, 0x3A, 0x2E])
        do throws(FieldFault.Reason) { try TextRule.mailAddress(email) } catch {
            throw FieldFault("client_email", error)
        }
        try PushProviderRule.name("private_key_id", keyID, limit: 100, also: [0x2D, 0x5F])
        try PushProviderRule.key(privateKey)
        try PushProviderRule.address("token_uri", tokenAddress)
        try PushProviderRule.address("address", address)
    }
}

extension AppleProvider {
    fileprivate func check() throws(FieldFault) {
        try PushProviderRule.name("team_id", team, limit: 20)
        try PushProviderRule.name("key_id", keyID, limit: 20)
        try PushProviderRule.name("topic", topic, limit: 200, also: [0x2D, 0x2E])
        try PushProviderRule.key(privateKey)
        try PushProviderRule.address("address", address)
    }
}

private enum PushProviderRule {
    static func name(
        _ field: String, _ text: String, limit: Int, also others: [UInt8] = []
    ) throws(FieldFault) {
        guard !text.isEmpty else { throw FieldFault(field, .missing) }
        guard text.utf8.count <= limit else { throw FieldFault(field, .tooLong(limit: limit)) }
        guard
            text.utf8.allSatisfy({
                TextRule.isLetter($0) || TextRule.isDigit($0) || others.contains($0)
            })
        else { throw FieldFault(field, .malformed) }
    }

    /// Whether it is a valid key is checked where the key is prepared.
    static func key(_ text: String?) throws(FieldFault) {
        guard let text, !text.isEmpty else { throw FieldFault("private_key", .missing) }
        guard let bytes = Base64URL.decode(text), bytes.count <= 8_192 else {
            throw FieldFault("private_key", .malformed)
        }
    }

    /// Which addresses are called is looked at again when one is: a name can lead anywhere.
    static func address(_ field: String, _ text: String) throws(FieldFault) {
        do throws(FieldFault.Reason) {
            try WebAddressRule.check(text, mayBeLoopback: false, mayHaveQuery: false)
        } catch {
            throw FieldFault(field, error)
        }
    }
}
