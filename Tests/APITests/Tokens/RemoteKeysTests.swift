import JOSE
import JSON
import Synchronization
import Testing

@testable import API

/// A server with keys, and a clock.
private final class Publisher: Sendable {
    private struct State {
        var document: [UInt8]?
        var calls = 0
        var now = Duration.zero
    }

    private let state = Mutex(State())

    func publish(_ keys: [SigningKey]?) {
        state.withLock {
            $0.document = keys.map { KeySet($0.map(\.verificationKey)).document.canonical() }
        }
    }

    func pass(_ time: Duration) { state.withLock { $0.now += time } }
    var calls: Int { state.withLock { $0.calls } }

    func remoteKeys() -> RemoteKeys {
        RemoteKeys(
            passed: { self.state.withLock { $0.now } },
            fetch: { _ in
                self.state.withLock {
                    $0.calls += 1
                    return $0.document
                }
            })
    }
}

@Suite struct `Published keys` {
    private let source = KeySource.address("https://client.example/keys")

    private func isKnown(_ key: SigningKey, _ keys: RemoteKeys) async -> Bool {
        do throws(TokenRejection) {
            return try await keys.check(source) { set throws(TokenRejection) in
                guard set.keys.contains(where: { $0.id == key.id }) else { throw .unknownKey }
                return true
            }
        } catch {
            return false
        }
    }

    @Test func `published keys are fetched once, and again when they are old`() async throws {
        let (publisher, key) = (Publisher(), try SigningKey.pooled(.es256))
        publisher.publish([key])
        let keys = publisher.remoteKeys()
        for _ in 0..<5 { #expect(await isKnown(key, keys)) }
        #expect(publisher.calls == 1)
        publisher.pass(.seconds(601))
        #expect(await isKnown(key, keys))
        #expect(publisher.calls == 2)
    }

    @Test func `published keys are fetched for a new key id, but not for each wrong one`()
        async throws
    {
        let publisher = Publisher()
        let (old, new) = (try SigningKey.pooled(.es256), try SigningKey.pooled(.es256))
        publisher.publish([old])
        let keys = publisher.remoteKeys()
        #expect(await isKnown(old, keys))
        publisher.publish([old, new])
        for _ in 0..<20 { #expect(await !isKnown(new, keys)) }
        #expect(publisher.calls == 1, "Not within the floor.")
        publisher.pass(.seconds(31))
        #expect(await isKnown(new, keys))
        #expect(publisher.calls == 2)
    }

    @Test func `published keys stay valid for a bounded time while their server is down`()
        async throws
    {
        let (publisher, key) = (Publisher(), try SigningKey.pooled(.es256))
        publisher.publish([key])
        let keys = publisher.remoteKeys()
        #expect(await isKnown(key, keys))
        publisher.publish(nil)
        publisher.pass(.seconds(3_600))
        for _ in 0..<5 { #expect(await isKnown(key, keys)) }
        #expect(publisher.calls == 2, "An outage is not made worse by asking.")
        publisher.pass(.seconds(90_000))
        #expect(await !isKnown(key, keys))
        publisher.publish([key])
        publisher.pass(.seconds(31))
        #expect(await isKnown(key, keys))
    }

    @Test func `published keys are fetched once for all requests that wait`() async throws {
        let (publisher, key) = (Publisher(), try SigningKey.pooled(.es256))
        publisher.publish([key])
        let keys = publisher.remoteKeys()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await isKnown(key, keys) } }
            for await known in group { #expect(known) }
        }
        #expect(publisher.calls == 1)
    }
}
