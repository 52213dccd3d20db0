public import Cryptography
public import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// The keys that a realm signs messages of webhooks with, beside the secret of each: their public halves are
/// for everybody. They stand among the realm's signing keys and are rotated like them. A realm that has none
/// gets its first one on first use.
public final class WebhookKeys: Sendable {
    /// One that retired signs for so long beside its successor: a receiver need not fetch keys for each
    /// message.
    static let overlap: Int64 = 86_400

    private let commands: any CommandPort
    private let clock: RealmContext.Clock
    private let time: RealmTime
    private let revision: TokenKeys.Revision
    private let known = RevisionCache<RealmID, SigningKeys>(capacity: 4096)

    public init(
        commands: any CommandPort, clock: RealmContext.Clock,
        revision: @escaping TokenKeys.Revision
    ) {
        self.commands = commands
        self.clock = clock
        self.revision = revision
        time = RealmTime(clock, commands.events)
    }

    /// The keys that sign now: the active one first.
    public func signing(in realm: RealmID) async throws(LogFailure) -> [Ed25519.PrivateKey] {
        let now = time.now(in: realm)
        return try await entries(of: realm).reversed().filter { entry in
            switch entry.phase {
            case .published: false
            case .active: true
            case .retired(let at): now < at.adding(seconds: Self.overlap)
            }
        }.compactMap { entry in
            entry.key.secret.flatMap { Base64URL.decode($0) }.flatMap { try? WebhookKey.read($0) }
        }
    }

    /// The published keys, the oldest first.
    func shown(in realm: RealmID) async throws(LogFailure) -> [SigningKeys.Entry] {
        let now = time.now(in: realm)
        return try await entries(of: realm).filter { entry in
            guard case .retired(let at) = entry.phase else { return true }
            return now < at.adding(seconds: SigningKeys.overlap)
        }
    }

    private func entries(of realm: RealmID) async throws(LogFailure) -> [SigningKeys.Entry] {
        let revision = revision
        let keys = try await known.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in try await self.read(realm) })
        return keys.entries.filter { $0.key.algorithm == SigningKeys.webhookAlgorithm }
    }

    private func read(_ realm: RealmID) async throws(LogFailure) -> SigningKeys {
        let keys = try await folded(realm)
        guard keys.active(SigningKeys.webhookAlgorithm) == nil else { return keys }
        var random = SystemRandom()
        do {
            let now = time.now(in: realm)
            _ = try await commands.dispatch(
                SigningKeyChange.addFirst(first: try .webhook()), in: realm,
                id: .v7(at: now, using: &random), digest: [],
                origin: Origin(actor: "system", at: now))
        } catch let failure as LogFailure {
            throw failure
        } catch {
            // The realm was closed in this very moment, or the machine has no memory left.
            throw .unavailable
        }
        return try await folded(realm)
    }

    private func folded(_ realm: RealmID) async throws(LogFailure) -> SigningKeys {
        var keys = SigningKeys()
        for recorded in try await commands.events.stream(SigningKeys.stream, after: 0, in: realm) {
            guard let event = SigningKeyEvent(recorded) else { throw .damaged }
            keys.apply(event)
        }
        return keys
    }
}

/// By what receivers know that a message is of this realm.
public struct WebhookSource: Sendable {
    let keys: WebhookKeys
    /// Where calls come from, for the receivers' lists.
    let networks: [String]

    public init(keys: WebhookKeys, networks: [String]) {
        self.keys = keys
        self.networks = networks
    }
}

extension NewSigningKey {
    /// A key for messages of webhooks.
    static func webhook() throws -> NewSigningKey {
        let key = try Ed25519.PrivateKey.generate()
        let (id, jwk) = WebhookKey.jwk(of: key.publicKey)
        return NewSigningKey(
            id: id, algorithm: SigningKeys.webhookAlgorithm, published: jwk,
            secret: Base64URL.encode(key.seed.exposedCopy()))
    }
}
