import EventSourcing
import Glibc
import Postgres
import Synchronization
import Testing
import Threads

@testable import ReadModels

@Suite struct `Simultaneous look-ups` {
    /// A database that answers when it is told to.
    private final class Source: Sendable {
        struct State {
            var asked: [[Int]] = []
            var isReleased = false
            var failure: ReadFailure?
            var lent = 0
        }

        let state = Mutex(State())

        var asked: [[Int]] { state.withLock { $0.asked } }

        func answer(_ keys: [Int]) -> Result<[Int: Result<String, ReadFailure>], ReadFailure> {
            state.withLock { $0.asked.append(keys.sorted()) }
            while !state.withLock({ state in
                defer { state.isReleased = false }
                return state.isReleased
            }) { usleep(200) }
            if let failure = state.withLock({ $0.failure }) { return .failure(failure) }
            var found: [Int: Result<String, ReadFailure>] = [:]
            for key in keys where key >= 0 {
                found[key] = key == 13 ? .failure(.unavailable) : .success("value \(key)")
            }
            return .success(found)
        }

        func release() { state.withLock { $0.isReleased = true } }

        func waits(for count: Int) async {
            while asked.count < count { await Task.yield() }
        }
    }

    private let source = Source()
    private let coalescing: QueryCoalescing<RealmID, Int, String, Source, ReadFailure>
    private let realm: RealmID

    init() throws {
        let source = source
        realm = try #require(RealmID("acme"))
        coalescing = QueryCoalescing(
            most: 4,
            from: { use in
                source.state.withLock { $0.lent += 1 }
                DedicatedThread.startRequired { use(.success(source)) }
            },
            ask: { source, _, keys in source.answer(keys) })
    }

    private func find(_ key: Int) -> Task<Result<String?, ReadFailure>, Never> {
        Task { [coalescing, realm] in
            do throws(ReadFailure) {
                return .success(try await coalescing.find(key, in: realm))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Asks one after the other, so that their order is known.
    private func queue(_ keys: [Int]) async -> [Task<Result<String?, ReadFailure>, Never>] {
        var tasks: [Task<Result<String?, ReadFailure>, Never>] = []
        for key in keys {
            let before = coalescing.waiting(in: realm)
            tasks.append(find(key))
            while coalescing.waiting(in: realm) == before { await Task.yield() }
        }
        return tasks
    }

    @Test func `simultaneous look-ups are one query, begun after the last of them`() async {
        let first = find(1)
        await source.waits(for: 1)
        let others = await queue([1, 2, 2, -1])
        source.release()
        await source.waits(for: 2)
        #expect(
            source.asked == [[1], [-1, 1, 2]], "The first answer may be older than the second.")
        source.release()
        #expect(await first.value == .success("value 1"))
        var values: [Result<String?, ReadFailure>] = []
        for other in others { values.append(await other.value) }
        #expect(
            values == [
                .success("value 1"), .success("value 2"), .success("value 2"), .success(nil),
            ])
    }

    @Test func `where it may be, a second query begins when many wait for the first, and no third`()
        async
    {
        let (source, realm) = (source, realm)
        let coalescing = QueryCoalescing<RealmID, Int, String, Source, ReadFailure>(
            atOnce: 2,
            from: { use in DedicatedThread.startRequired { use(.success(source)) } },
            ask: { source, _, keys in source.answer(keys) })
        let answered = Mutex<[Int: String]>([:])
        func ask(_ keys: some Sequence<Int>) {
            for key in keys {
                coalescing.find(key, in: realm) { found in
                    answered.withLock { $0[key] = (try? found.get()) ?? nil }
                }
            }
        }
        ask([100])
        await source.waits(for: 1)
        ask(201...215)
        usleep(20_000)
        #expect(source.asked == [[100]])
        ask([216])
        await source.waits(for: 2)
        #expect(source.asked == [[100], Array(201...216)])
        ask(221...260)
        usleep(20_000)
        #expect(source.asked.count == 2)
        source.release()
        await source.waits(for: 3)
        while answered.withLock({ $0.count }) < 57 {
            source.release()
            await Task.yield()
        }
        #expect(source.asked.count == 3 && source.asked.last == Array(221...260))
        #expect(answered.withLock { $0.allSatisfy { $0.value == "value \($0.key)" } })
        // All is over: the next one is asked at once.
        ask([7])
        await source.waits(for: 4)
        source.release()
        while coalescing.waiting(in: realm) > 0 { await Task.yield() }
    }

    @Test func `simultaneous look-ups are split at the query's limit`() async {
        let first = find(0)
        await source.waits(for: 1)
        let others = await queue([1, 2, 3, 4, 5])
        for turn in 2...3 {
            source.release()
            await source.waits(for: turn)
        }
        source.release()
        #expect(source.asked == [[0], [1, 2, 3, 4], [5]])
        _ = await first.value
        for (key, other) in zip(1..., others) {
            #expect(await other.value == .success("value \(key)"))
        }
    }

    @Test func `simultaneous look-ups leave other queries their turn`() async {
        let first = find(0)
        await source.waits(for: 1)
        let others = await queue(Array(20...99))
        for turn in 2...16 {
            source.release()
            await source.waits(for: turn)
        }
        #expect(source.state.withLock { $0.lent } == 1)
        for turn in 17...21 {
            source.release()
            await source.waits(for: turn)
        }
        source.release()
        _ = await first.value
        for (key, other) in zip(20..., others) {
            #expect(await other.value == .success("value \(key)"))
        }
        #expect(source.state.withLock { $0.lent } == 2)
    }

    @Test func `simultaneous look-ups share their query's failure, but not that of a row`() async {
        let first = find(0)
        await source.waits(for: 1)
        let others = await queue([13, 14])
        source.release()
        await source.waits(for: 2)
        source.release()
        #expect(await first.value == .success("value 0"))
        #expect(await others[0].value == .failure(.unavailable))
        #expect(await others[1].value == .success("value 14"))
        source.state.withLock { $0.failure = .busy }
        let next = find(1)
        await source.waits(for: 3)
        source.release()
        #expect(await next.value == .failure(.busy))
        // Nothing is left behind that would keep the next one waiting.
        source.state.withLock { $0.failure = nil }
        let last = find(2)
        await source.waits(for: 4)
        source.release()
        #expect(await last.value == .success("value 2"))
    }

    @Test func `an early answer is given to who waits for it and to who comes afterwards`()
        async throws
    {
        let first = find(0)
        await source.waits(for: 1)
        let (awaited, later) = (coalescing.begin(1, in: realm), coalescing.begin(1, in: realm))
        let value = Task { try await awaited.value }
        source.release()
        await source.waits(for: 2)
        source.release()
        #expect(try await value.value == "value 1")
        #expect(await first.value == .success("value 0"))
        while coalescing.waiting(in: realm) > 0 { await Task.yield() }
        #expect(try await later.value == "value 1")
    }

    @Test func `an early answer is asked for at once, together with the others`() async throws {
        let first = find(1)
        await source.waits(for: 1)
        let early = [coalescing.begin(2, in: realm), coalescing.begin(-1, in: realm)]
        let others = await queue([3])
        source.release()
        await source.waits(for: 2)
        #expect(source.asked == [[1], [-1, 2, 3]])
        source.release()
        #expect(await others[0].value == .success("value 3"))
        #expect(try await early[0].value == "value 2")
        #expect(try await early[1].value == nil)
        _ = await first.value
    }

    @Test func `an early answer that failed is asked for anew, each time`() async throws {
        let first = find(0)
        await source.waits(for: 1)
        let early = coalescing.begin(1, in: realm)
        _ = coalescing.begin(4, in: realm)
        source.state.withLock { $0.failure = .unavailable }
        source.release()
        _ = await first.result
        await source.waits(for: 2)
        source.release()
        while coalescing.waiting(in: realm) > 0 { await Task.yield() }
        // The database is still away when it is wanted, and back when it is wanted again.
        for (turn, failure) in [(3, ReadFailure.busy), (4, nil)] {
            let wanted = Task { try await early.value }
            await source.waits(for: turn)
            #expect(source.asked.last == [1])
            source.state.withLock { $0.failure = failure }
            source.release()
            switch await wanted.result {
            case .success(let value): #expect(failure == nil && value == "value 1")
            case .failure(let error): #expect(failure != nil && error as? ReadFailure == failure)
            }
        }
    }

    @Test func `an early answer is given once, and who wants it again has it asked for anew`()
        async throws
    {
        let early = coalescing.begin(1, in: realm)
        await source.waits(for: 1)
        source.release()
        #expect(try await early.value == "value 1")
        let again = Task { try await early.value }
        await source.waits(for: 2)
        source.release()
        #expect(try await again.value == "value 1")
    }
}
