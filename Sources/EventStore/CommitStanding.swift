/// Whether commits get through, lane by lane: a lane that has committed nothing for a while commits
/// nothing of importance, to see. A state machine without a clock and a lock of its own.
struct CommitStanding: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A lane that committed as lately need not try.
    static let quiet = Duration.seconds(3)
    /// Longer than a lane waits for a lock.
    static let patience = Duration.seconds(10)
    /// For so long an append that was refused is spoken of, if none has been taken since.
    static let memory = Duration.seconds(60)

    private struct LaneStanding: Sendable {
        var committed: Instant?
        /// The time since which the lane is to make a trial.
        var asked: Instant?
        var failure: String?
        /// What a trial found missing. A commit that needed none of it says nothing: only another trial does.
        var shortage: String?
    }

    private var lanes: [Int: LaneStanding]
    /// Whichever lane takes an append again, the disk is the same.
    private var refusal: (why: String, at: Instant)?

    init(lanes: ClosedRange<Int>) {
        self.lanes = Dictionary(uniqueKeysWithValues: lanes.map { ($0, LaneStanding()) })
    }

    /// The lanes that are to try now.
    mutating func begin(at now: Instant) -> [Int] {
        let due = lanes.filter { _, lane in
            guard lane.asked == nil else { return false }
            guard lane.failure == nil, lane.shortage == nil, let committed = lane.committed else {
                return true
            }
            return now - committed >= Self.quiet
        }
        for number in due.keys { lanes[number]?.asked = now }
        return due.keys.sorted()
    }

    mutating func commit(lane: Int, at now: Instant) {
        lanes[lane]?.committed = now
        lanes[lane]?.failure = nil
    }

    /// The trial is over, however it ended.
    mutating func endTrial(lane: Int) { lanes[lane]?.asked = nil }

    mutating func fail(lane: Int, why: String) { lanes[lane]?.failure = why }

    /// A trial says what is missing for writes, or that nothing is.
    mutating func note(shortage: String?, lane: Int) { lanes[lane]?.shortage = shortage }

    /// An append was refused, or one was taken (nil).
    mutating func note(refusal: String?, lane: Int, at now: Instant) {
        self.refusal = refusal.map { ("committer \(lane): \($0)", now) }
    }

    /// Why appends were refused of late, though a trial may find nothing wrong.
    func refusal(at now: Instant) -> String? {
        refusal.flatMap { now - $0.at > Self.memory ? nil : $0.why }
    }

    /// Why no commit gets through; nil where they do.
    func fault(at now: Instant) -> String? {
        for (number, lane) in lanes.sorted(by: { $0.key < $1.key }) {
            if let failure = lane.failure ?? lane.shortage {
                return "committer \(number): \(failure)"
            }
            guard let committed = lane.committed else {
                return "committer \(number) has committed nothing yet"
            }
            // It may have been busy with the commits of others since it was asked.
            guard let asked = lane.asked else { continue }
            let waited = now - max(asked, committed)
            if waited > Self.patience {
                return
                    "committer \(number): no commit has got through for \(waited.components.seconds) s"
            }
        }
        return nil
    }
}
