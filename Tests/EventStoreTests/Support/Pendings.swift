import EventSourcing
import Values

@testable import EventStore

extension EncodedCommit {
    /// A commit of which admission looks at some parts only.
    static func of(
        _ realm: RealmID, writes: [UUID] = [], reads: [UUID] = [], claims: [String] = [],
        command: UUID = newID(), epoch: Int = 1, size: Int = 100
    ) -> EncodedCommit {
        EncodedCommit(
            realm: realm, epoch: epoch, command: command, digest: [], at: testTime, meta: [],
            reads: writes.map { Read(stream: $0, version: 0, events: 1) }
                + reads.map { Read(stream: $0, version: 0, events: 0) },
            claims: claims.map {
                ClaimRow(kind: "slot", key: Array($0.utf8), stream: newID(), take: true)
            }, events: [], size: size, mac: .zero,
            fresh: [:], generation: 0)
    }
}

/// A command that waits, and the task that waits for it.
struct Waiter {
    let pending: Pending
    let answer: Task<Pending.Answer, Never>

    init(_ commit: EncodedCommit) async {
        let (made, hand) = AsyncStream.makeStream(of: Pending.self)
        answer = Task {
            await withUnsafeContinuation { hand.yield(Pending(commit, $0)) }
        }
        var next = made.makeAsyncIterator()
        guard let pending = await next.next() else {
            preconditionFailure("The task makes one and the stream stays open.")
        }
        self.pending = pending
    }

    /// A test that is through with it lets it go.
    func release() async {
        pending.settle(.failure(.unavailable))
        _ = await answer.value
    }
}
