internal import Cryptography
public import EventSourcing
internal import Identity
public import JOSE
internal import JSON
internal import Synchronization
internal import Values

/// The keys that the tokens of each realm are signed with, as this process knows them. A realm that
/// has none gets its first ones on first use.
///
/// They are cached until they change, so that a signature costs no database query. What another
/// node changes may be known here a moment later: a retired key is published for a month yet, so
/// that what it signed is good; and an unknown key has the log read again.
public final class TokenKeys: Sendable {
    /// Makes a key. It may take a while, and must not do so on the pool that runs tasks.
    public typealias Generation = @Sendable (SigningAlgorithm) async throws -> SigningKey
    /// A number that moves with every change of a realm's keys.
    public typealias Revision = @Sendable (RealmID) -> Int64

    let commands: any CommandPort
    let revision: Revision
    private let clock: RealmContext.Clock
    let time: RealmTime
    let generate: Generation
    private let known = RevisionCache<RealmID, RealmTokenKeys>(capacity: 4096)
    /// What apps of the federation profile encrypt assertions to.
    let encryption = RevisionCache<RealmID, RealmEncryptionKeys>(capacity: 4096)
    private let lookedUp = RevisionCache<RealmID, RealmTokenKeys>(capacity: 4096)
    /// Ready to sign, by `kid`: to read one costs as much as several signatures.
    private let ready = Mutex(LeastRecent<String, SigningKey>(capacity: 8192))

    public init(
        commands: any CommandPort, clock: RealmContext.Clock, revision: @escaping Revision,
        generate: @escaping Generation
    ) {
        self.commands = commands
        self.clock = clock
        time = RealmTime(clock, commands.events)
        self.revision = revision
        self.generate = generate
    }

    func keys(of realm: RealmID) async throws(LogFailure) -> RealmTokenKeys {
        if let found = known.known(realm, at: revision(realm)) { return found }
        let revision = revision
        return try await known.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in try await self.read(realm) })
    }

    /// An access token of this realm's own. A key that another node made just now may not be known
    /// here yet; but unknown keys have the log read once a second and no more.
    func verify(
        _ text: String, of realm: RealmID, at now: Timestamp?
    ) async throws(LogFailure) -> AccessToken? {
        let known = try await keys(of: realm).set
        do throws(TokenRejection) {
            return try AccessToken.own(text, keys: known, at: now)
        } catch .unknownKey {
            let clock = clock
            let found = try await lookedUp.value(
                of: realm, at: { clock.passed().components.seconds },
                read: { () throws(LogFailure) in try await self.read(realm) })
            return try? AccessToken.own(text, keys: found.set, at: now)
        } catch {
            return nil
        }
    }

    private func read(_ realm: RealmID) async throws(LogFailure) -> RealmTokenKeys {
        var keys = try await folded(realm)
        let missing = SigningAlgorithm.allCases.filter { keys.active($0.rawValue) == nil }
        if !missing.isEmpty {
            for algorithm in missing { try await addFirst(algorithm, in: realm) }
            keys = try await folded(realm)
        }
        return try RealmTokenKeys(
            keys.shown(at: time.now(in: realm)).map(\.key)
                .filter { SigningAlgorithm(rawValue: $0.algorithm) != nil }.map(\.published),
            active: active(of: keys))
    }

    func folded(_ realm: RealmID) async throws(LogFailure) -> SigningKeys {
        var keys = SigningKeys()
        for recorded in try await commands.events.stream(SigningKeys.stream, after: 0, in: realm) {
            guard let event = SigningKeyEvent(recorded) else { throw .damaged }
            keys.apply(event)
        }
        return keys
    }

    /// One whose secret cannot be read signs nothing, until it is rotated: the others do, and all are shown.
    private func active(of keys: SigningKeys) -> [SigningAlgorithm: SigningKey] {
        var active: [SigningAlgorithm: SigningKey] = [:]
        for algorithm in SigningAlgorithm.allCases {
            guard let key = keys.active(algorithm.rawValue) else { continue }
            if let known = ready.withLock({ $0.value(of: key.id) }) {
                active[algorithm] = known
                continue
            }
            guard let secret = key.secret.flatMap({ Base64URL.decode($0) }),
                let read = try? SigningKey(
                    pkcs8: SecretBytes(secret), algorithm: algorithm, id: key.id)
            else { continue }
            ready.withLock { $0.set(read, for: key.id) }
            active[algorithm] = read
        }
        return active
    }

    private func addFirst(
        _ algorithm: SigningAlgorithm, in realm: RealmID
    ) async throws(LogFailure) {
        var random = SystemRandom()
        do {
            let key = try await generate(algorithm)
            let now = time.now(in: realm)
            _ = try await commands.dispatch(
                SigningKeyChange.addFirst(first: try NewSigningKey(key)), in: realm,
                id: .v7(at: now, using: &random), digest: [],
                origin: Origin(actor: "system", at: now))
        } catch let failure as LogFailure {
            throw failure
        } catch {
            // The realm was closed in this very moment, or the machine has no memory left.
            throw .unavailable
        }
    }
}

/// The keys of one realm.
struct RealmTokenKeys: Sendable {
    let active: [SigningAlgorithm: SigningKey]
    let set: KeySet
    /// What `/.well-known/jwks` answers.
    let document: [UInt8]

    init(
        _ published: [JSON], active: [SigningAlgorithm: SigningKey]
    ) throws(LogFailure) {
        guard let set = try? KeySet(jwks: ["keys": .array(published)]) else { throw .damaged }
        self.active = active
        self.set = set
        document = set.document.canonical()
    }
}

extension NewSigningKey {
    init(_ key: SigningKey) throws {
        self.init(
            id: key.id, algorithm: key.algorithm.rawValue, published: key.verificationKey.jwk,
            secret: Base64URL.encode(try key.pkcs8().exposedCopy()))
    }
}

extension TokenSignature {
    var algorithm: SigningAlgorithm {
        switch self {
        case .rs256: .rs256
        case .es256: .es256
        }
    }
}
