internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// The keys that apps of the federation profile encrypt assertions to. They stand among the realm's signing keys and
/// are rotated like them: one that retired opens what was encrypted to it while it is still shown.
struct RealmEncryptionKeys: Sendable {
    let keys: [DecryptionKey]
    /// The public keys of the JWK set.
    let published: [JSON]
}

extension TokenKeys {
    /// A realm that has none gets its first ones on first use.
    func encryptionKeys(of realm: RealmID) async throws(LogFailure) -> RealmEncryptionKeys {
        let revision = revision
        return try await encryption.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in try await self.readEncryptionKeys(realm) })
    }

    private func readEncryptionKeys(
        _ realm: RealmID
    ) async throws(LogFailure) -> RealmEncryptionKeys {
        var keys = try await folded(realm)
        let missing = JWE.KeyManagement.allCases.filter { keys.active($0.rawValue) == nil }
        for algorithm in missing {
            do {
                let now = time.now(in: realm)
                var random = SystemRandom()
                _ = try await commands.dispatch(
                    SigningKeyChange.addFirst(first: try await newEncryptionKey(algorithm)),
                    in: realm,
                    id: .v7(at: now, using: &random), digest: [],
                    origin: Origin(actor: "system", at: now))
            } catch let failure as LogFailure {
                throw failure
            } catch {
                // The realm was closed in this very moment, or the machine has no memory left.
                throw .unavailable
            }
        }
        if !missing.isEmpty { keys = try await folded(realm) }
        let shown = keys.shown(at: time.now(in: realm)).map(\.key).filter {
            SigningKeys.encryptionAlgorithms.contains($0.algorithm)
        }
        // One that is not active yet opens too: nothing is lost where an app is early. Everybody is shown those that
        // are used now, so that an app has no choice to make.
        let used = Set(JWE.KeyManagement.allCases.compactMap { keys.active($0.rawValue)?.id })
        return RealmEncryptionKeys(
            keys: shown.compactMap(DecryptionKey.init),
            published: shown.filter { used.contains($0.id) }.map(\.published))
    }

    /// An RSA key takes a while to make: as long as one that signs, and in the same place.
    func newEncryptionKey(_ algorithm: JWE.KeyManagement) async throws -> NewSigningKey {
        let made =
            switch algorithm {
            case .rsaOAEP256: try await generate(.rs256)
            case .ecdhES: try await generate(.es256)
            }
        return try NewSigningKey(encrypting: made, algorithm)
    }
}

extension NewSigningKey {
    init(encrypting made: SigningKey, _ algorithm: JWE.KeyManagement) throws {
        let secret = try made.pkcs8()
        let key = try DecryptionKey(pkcs8: secret, algorithm: algorithm)
        self.init(
            id: key.id, algorithm: algorithm.rawValue, published: key.encryptionKey.jwk,
            secret: Base64URL.encode(secret.exposedCopy()))
    }
}

extension DecryptionKey {
    /// Nil where its secret cannot be read: the others open messages yet.
    fileprivate init?(_ key: NewSigningKey) {
        guard let algorithm = JWE.KeyManagement(rawValue: key.algorithm),
            let secret = key.secret.flatMap({ Base64URL.decode($0) }),
            let read = try? DecryptionKey(
                pkcs8: SecretBytes(secret), algorithm: algorithm, id: key.id)
        else { return nil }
        self = read
    }
}
