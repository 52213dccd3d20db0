internal import Cryptography
public import EventSourcing
internal import Identity
public import JOSE
internal import JSON
internal import Synchronization
internal import Values

/// The keys that the tokens of each realm are signed with, as this process knows them. A realm that
/// has none gets its first ones when somebody asks for them.
///
/// Who verifies sees what the log says now. Who signs may be a second behind: a key that was retired
/// meanwhile is shown for a month yet, so that what it signed is good, and a signature costs no look
/// into the database.
public final class TokenKeys: Sendable {
    /// Makes a key. It may take a while, and must not do so on the pool that runs tasks.
    public typealias Generation = @Sendable (SigningAlgorithm) async throws -> SigningKey
    /// A number that moves with everything that happens in a realm.
    public typealias Revision = @Sendable (RealmID) -> Int64

    private let commands: any CommandPort
    private let revision: Revision
    private let clock: RealmContext.Clock
    private let generate: Generation
    private let fresh = RevisionCache<RealmID, RealmTokenKeys>(capacity: 4096)
    private let recent = RevisionCache<RealmID, RealmTokenKeys>(capacity: 4096)
    /// Ready to sign, by `kid`: to read one costs as much as several signatures.
    private let ready = Mutex(LeastRecent<String, SigningKey>(capacity: 8192))

    public init(
        commands: any CommandPort, clock: RealmContext.Clock, revision: @escaping Revision,
        generate: @escaping Generation
    ) {
        self.commands = commands
        self.clock = clock
        self.revision = revision
        self.generate = generate
    }

    /// What everybody may know now.
    func published(in realm: RealmID) async throws(LogFailure) -> RealmTokenKeys {
        let revision = revision
        return try await fresh.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in try await self.read(realm) })
    }

    /// The key that signs.
    func signing(
        _ algorithm: SigningAlgorithm, in realm: RealmID
    ) async throws(LogFailure) -> SigningKey {
        let clock = clock
        let known = try await recent.value(
            of: realm, at: { clock.passed().components.seconds },
            read: { () throws(LogFailure) in try await self.read(realm) })
        guard let key = known.active[algorithm] else { throw .damaged }
        return key
    }

    private func read(_ realm: RealmID) async throws(LogFailure) -> RealmTokenKeys {
        var keys = try await folded(realm)
        let missing = SigningAlgorithm.allCases.filter { keys.active($0.rawValue) == nil }
        if !missing.isEmpty {
            for algorithm in missing { try await addFirst(algorithm, in: realm) }
            keys = try await folded(realm)
        }
        return try RealmTokenKeys(
            keys.shown(at: clock.now()).map(\.key.published), active: active(of: keys))
    }

    private func folded(_ realm: RealmID) async throws(LogFailure) -> SigningKeys {
        var keys = SigningKeys()
        for recorded in try await commands.events.stream(SigningKeys.stream, after: 0, in: realm) {
            guard let event = SigningKeyEvent(recorded) else { throw .damaged }
            keys.apply(event)
        }
        return keys
    }

    private func active(
        of keys: SigningKeys
    ) throws(LogFailure) -> [SigningAlgorithm: SigningKey] {
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
            else { throw .damaged }
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
            let now = clock.now()
            _ = try await commands.dispatch(
                AddFirstSigningKey(first: try NewSigningKey(key)), in: realm,
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
