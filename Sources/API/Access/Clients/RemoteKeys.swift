internal import JOSE
internal import JSON
internal import Synchronization

/// Where a client's or trusted issuer's public keys come from.
enum KeySource: Sendable, Equatable {
    case document(JSON)
    case address(String)

    init?(_ document: JSON?, _ address: String?) {
        if let document {
            self = .document(document)
        } else if let address {
            self = .address(address)
        } else {
            return nil
        }
    }
}

/// The keys that others publish (`jwks_uri`), fetched and kept for a while.
///
/// An unknown key ID has them fetched again, but not more often than the floor says: so a client
/// that rotates its keys soon works, and no caller makes us fetch them for each request. While its
/// server is away the cached keys stay good for a day.
public final class RemoteKeys: Sendable {
    /// The document at an address; nil where there is none to be had.
    public typealias Fetch = @Sendable (_ address: String) async -> [UInt8]?

    static let shelfLife = Duration.seconds(600)
    static let floor = Duration.seconds(30)
    static let patience = Duration.seconds(86_400)

    private struct Entry: Sendable {
        var keys: KeySet?
        var fetchedAt = Duration.zero
        var triedAt: Duration?
        var running: Task<KeySet?, Never>?
    }

    private enum Step {
        case done(KeySet?)
        case wait(Task<KeySet?, Never>)
    }

    private let fetch: Fetch
    private let passed: @Sendable () -> Duration
    private let entries = Mutex(LeastRecent<String, Entry>(capacity: 1024))
    /// Sets that were handed in as documents, by these.
    private let given = Mutex(LeastRecent<JSON, KeySet>(capacity: 256))

    public init(
        passed: @escaping @Sendable () -> Duration = { .zero },
        fetch: @escaping Fetch = { _ in nil }
    ) {
        self.passed = passed
        self.fetch = fetch
    }

    /// Checks something under the keys of a source; once more under newer ones where the key was not
    /// among them.
    func check<Value>(
        _ source: KeySource, _ check: (KeySet) throws(TokenRejection) -> Value
    ) async throws(TokenRejection) -> Value {
        let address: String
        switch source {
        case .document(let document):
            guard let keys = keys(in: document) else { throw .unknownKey }
            return try check(keys)
        case .address(let text): address = text
        }
        guard let keys = await keys(at: address, newer: false) else { throw .unknownKey }
        do throws(TokenRejection) {
            return try check(keys)
        } catch .unknownKey {
            guard let newer = await self.keys(at: address, newer: true), newer != keys else {
                throw .unknownKey
            }
            return try check(newer)
        } catch {
            throw error
        }
    }

    /// To read a set costs more than to look at it.
    private func keys(in document: JSON) -> KeySet? {
        if let known = given.withLock({ $0.value(of: document) }) { return known }
        guard let keys = try? KeySet(jwks: document) else { return nil }
        given.withLock { $0.set(keys, for: document) }
        return keys
    }

    /// Any document at an address, fetched once and not kept.
    func document(at address: String) async -> JSON? {
        await fetch(address).flatMap { try? JSON.parse($0, limits: .foreign) }
    }

    private func keys(at address: String, newer: Bool) async -> KeySet? {
        let step: Step = entries.withLock { entries in
            var entry = entries.value(of: address) ?? Entry()
            if let running = entry.running { return .wait(running) }
            let now = passed()
            let known = entry.keys.flatMap { now - entry.fetchedAt < Self.patience ? $0 : nil }
            let isFresh = known != nil && now - entry.fetchedAt < Self.shelfLife
            if isFresh, !newer { return .done(known) }
            if let triedAt = entry.triedAt, now - triedAt < Self.floor { return .done(known) }
            let task = Task { await self.fetched(address, otherwise: known) }
            entry.running = task
            entry.triedAt = now
            entries.set(entry, for: address)
            return .wait(task)
        }
        switch step {
        case .done(let keys): return keys
        case .wait(let task): return await task.value
        }
    }

    private func fetched(_ address: String, otherwise known: KeySet?) async -> KeySet? {
        let found = await fetch(address).flatMap { try? KeySet(parsing: $0) }
        return entries.withLock { entries in
            var entry = entries.value(of: address) ?? Entry()
            entry.running = nil
            if let found {
                entry.keys = found
                entry.fetchedAt = passed()
            }
            entries.set(entry, for: address)
            return found ?? known
        }
    }
}
