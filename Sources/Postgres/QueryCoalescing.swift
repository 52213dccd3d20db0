public import Glibc
public import Synchronization

/// Look-ups of one kind that come at the same time become one query.
///
/// A caller that comes while a query runs waits for the next one, which begins after it came: no
/// caller gets an answer older than its question. There is no timer: one that comes alone is asked
/// at once. All of it happens on the thread of the connection, so that a query costs the callers
/// one waking for all. A query is about one place, and so is a line of waiting.
public final class QueryCoalescing<
    Place: Hashable & Sendable, Key: Hashable & Sendable, Value: Sendable, Source,
    Fault: Error
>: Sendable {
    public typealias Found = [Key: Result<Value, Fault>]
    public typealias Ask = @Sendable (Source, Place, [Key]) -> Result<Found, Fault>
    /// Gives what can be asked, on a thread that may block.
    public typealias Lend =
        @Sendable (@escaping @Sendable (Result<Source, Fault>) -> Void) -> Void
    public typealias Use = @Sendable (Result<Value?, Fault>) -> Void
    @usableFromInline typealias Waiting = (key: Key, answer: Waiter)

    @usableFromInline @safe enum Waiter: Sendable {
        case now(UnsafeContinuation<Result<Value?, Fault>, Never>)
        case then(Use)

        @inlinable
        func resume(returning outcome: Result<Value?, Fault>) {
            switch self {
            case .now(let continuation): unsafe continuation.resume(returning: outcome)
            case .then(let use): use(outcome)
            }
        }
    }

    @usableFromInline struct Line {
        @usableFromInline var waiting: [Waiting] = []
        /// Queries that are under way, or about to be.
        @usableFromInline var asked = 0

        @inlinable init() {}
    }

    @usableFromInline let lines = Mutex<[Place: Line]>([:])
    @usableFromInline let lend: Lend
    @usableFromInline let ask: Ask
    @usableFromInline let most: Int
    @usableFromInline let atOnce: Int
    /// So many wait before another query begins while one is under way.
    @usableFromInline let worthwhile = 16
    /// So many queries on end.
    @usableFromInline let turns = 16

    /// - Parameters:
    ///   - most: in one query.
    ///   - atOnce: so many queries may be under way, the further ones where many wait: those that end with a flush.
    public init(most: Int = 256, atOnce: Int = 1, from lend: @escaping Lend, ask: @escaping Ask) {
        self.most = most
        self.atOnce = atOnce
        self.lend = lend
        self.ask = ask
    }

    @inlinable
    public func find(_ key: Key, in place: Place) async throws(Fault) -> Value? {
        let result = await unsafe withUnsafeContinuation { unsafe ask(key, in: place, .now($0)) }
        return try result.get()
    }

    /// Sends the query, and waits for its rows only when they are needed.
    @inlinable
    public func begin(_ key: Key, in place: Place) -> EarlyAnswer<Value, Fault> {
        let answer = EarlyAnswer<Value, Fault> { () throws(Fault) in
            try await self.find(key, in: place)
        }
        ask(key, in: place, .then { answer.give($0) })
        return answer
    }

    /// Asks, and has the answer used where it comes, on the thread of the connection: no task is woken for it. It must
    /// not block.
    @inlinable
    public func find(_ key: Key, in place: Place, then use: @escaping Use) {
        ask(key, in: place, .then(use))
    }

    @inlinable
    func ask(_ key: Key, in place: Place, _ answer: Waiter) {
        let isNext = lines.withLock { lines in
            var line = lines.removeValue(forKey: place) ?? Line()
            line.waiting.append((key, answer))
            let isNext = line.asked == 0 || line.asked < atOnce && line.waiting.count >= worthwhile
            if isNext { line.asked += 1 }
            lines[place] = line
            return isNext
        }
        if isNext { lend { source in self.answerAll(place, source) } }
    }

    /// Those that wait for a query to begin.
    public func waiting(in place: Place) -> Int {
        lines.withLock { $0[place]?.waiting.count ?? 0 }
    }

    @inlinable
    func answerAll(_ place: Place, _ source: Result<Source, Fault>) {
        // Where the processors are busy, those who are about to ask come first; where they are not, this
        // takes no time.
        sched_yield()
        for _ in 0..<turns {
            guard let batch = next(place) else { return }
            let keys = Array(Set(batch.map(\.key)))
            let found = source.flatMap { ask($0, place, keys) }
            for (key, answer) in batch {
                switch found {
                case .failure(let failure): answer.resume(returning: .failure(failure))
                // What one look-up cannot read is no other's failure.
                case .success(let values):
                    answer.resume(returning: values[key]?.map { $0 } ?? .success(nil))
                }
            }
            sched_yield()
        }
        // Others want what was lent as well, however many still come: they have their turn first.
        lend { source in self.answerAll(place, source) }
    }

    @inlinable
    func next(_ place: Place) -> [Waiting]? {
        lines.withLock { lines in
            guard var line = lines.removeValue(forKey: place) else { return nil }
            guard !line.waiting.isEmpty else {
                line.asked -= 1
                if line.asked > 0 { lines[place] = line }
                return nil
            }
            let batch = Array(line.waiting.prefix(most))
            line.waiting.removeFirst(batch.count)
            lines[place] = line
            return batch
        }
    }
}

extension QueryCoalescing where Source == Connection {
    /// - Parameters:
    ///   - busy: the error for callers when the queue is full.
    ///   - unavailable: what is told where the database cannot be reached.
    ///   - damaged: what is told where a row cannot be what was written.
    public convenience init(
        _ database: Database, most: Int = 256, atOnce: Int = 1, busy: Fault, unavailable: Fault,
        damaged: Fault, ask: @escaping Ask
    ) {
        self.init(
            most: most, atOnce: atOnce,
            from: { use in
                let isAccepted = database.perform { connection in
                    use(connection.mapError { _ in unavailable })
                }
                if !isAccepted { use(.failure(busy)) }
            },
            ask: { connection, place, keys in
                let found = ask(connection, place, keys)
                // Nothing of what was read with it counts.
                guard (try? connection.refuseNulls()) != nil else { return .failure(damaged) }
                return found
            })
    }
}
