internal import Synchronization

/// So many requests at once; what comes beyond waits, in order. The thread that has an answer goes on with the next of them
/// without being woken for it.
///
/// Where a server does not answer, or answers that it is too much, what waits is cancelled.
public final class RequestLimit: Sendable {
    private struct State: Sendable {
        var underWay = 0
        /// Work waits only while the limit of requests is under way.
        var waiting: [WorkQueue.Work] = []
    }

    private let most: Int
    private let state = Mutex(State())

    public init(_ most: Int) {
        self.most = most
    }

    /// Has the work join the line, now or once another is done.
    func admit(_ work: WorkQueue.Work, to line: WorkQueue) -> WorkQueue.Admission {
        let isAdmitted = state.withLock { state in
            guard state.underWay < most else {
                state.waiting.append(work)
                return false
            }
            state.underWay += 1
            return true
        }
        return isAdmitted ? join(line, work) : .taken
    }

    private func join(_ line: WorkQueue, _ work: WorkQueue.Work) -> WorkQueue.Admission {
        let admission = line.join(
            WorkQueue.Work(
                run: { handle in
                    self.run(work, handle, line)
                    return WorkQueue.Work.WorkOutcome()
                },
                refuse: { refusal in
                    work.refuse(refusal)
                    self.giveBack(refusal)
                }))
        if case .refused(let refusal) = admission { giveBack(refusal) }
        return admission
    }

    /// One after the other, as long as no other request waits for a thread.
    private func run(_ work: WorkQueue.Work, _ handle: Handle, _ line: WorkQueue) {
        var work = work
        while true {
            let done = work.run(handle)
            guard done.goesOn else {
                giveBack(.cancelled)
                return done.tell()
            }
            let next = state.withLock { state -> WorkQueue.Work? in
                guard !state.waiting.isEmpty else {
                    state.underWay -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
            done.tell()
            guard let next else { return }
            guard line.isLetAlone else {
                if case .refused(let refusal) = join(line, next) { next.refuse(refusal) }
                return
            }
            work = next
        }
    }

    /// Frees the slot of a request under way, and refuses all waiting requests.
    private func giveBack(_ refusal: Refusal) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.underWay -= 1
            return state.waiting
        }
        for work in waiting { work.refuse(refusal) }
    }
}
