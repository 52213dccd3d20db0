import Values

/// Holds one realm's log against the laws of docs/laws.md, event by event: a program of its own, which knows the log and
/// nothing of what writes it.
public struct Lawbook {
    private let laws = Law.all()
    private let ofEvery: [Check]
    private var types: TypeTable
    private var past: Past
    private let data = Members()
    private var epoch = 0
    private var checkpoints: (known: Int64, unknown: Int64) = (0, 0)

    /// - Parameter first: the position of the first event. Of what stands before nothing is known.
    public init(from first: Int64 = 1) {
        past = Past(from: first)
        types = TypeTable(laws)
        ofEvery = laws.flatMap(\.checks).filter(\.types.isEmpty)
    }

    public mutating func take(_ logged: LoggedEvent) {
        past.position = logged.position
        past.second = logged.at / 1_000_000
        let type = types.count(logged.type)
        let event = Event(logged: logged, data: data)
        let checks = types.checks(type)
        if !checks.isEmpty { data.read(logged.data) }
        past.note(event, mayBegin: types.mayBegin(type), until: types.end(type, of: event))
        for check in ofEvery { check.look(&past, event) }
        for check in checks { check.look(&past, event) }
    }

    /// A checkpoint behind the last event that it covers.
    /// - Parameter isOfLog: whether it has the size and root of the events; nil where that is not known.
    public mutating func takeCheckpoint(size: Int64, epoch: Int, isOfLog: Bool?) {
        if epoch < self.epoch {
            past.broken(
                1, "a checkpoint of epoch \(epoch) follows one of epoch \(self.epoch)")
        }
        self.epoch = epoch
        if let isOfLog {
            checkpoints.known += 1
            if !isOfLog { past.broken(40, "the checkpoint of size \(size) has another root") }
        } else {
            checkpoints.unknown += 1
            past.unknown(40)
        }
    }

    /// How many sessions and streams are remembered, the larger of both.
    var kept: Int { max(past.sessions.count, past.streams.count) }

    /// What the laws say of all that was taken.
    public func findings() -> LawFindings {
        var past = past
        past.judgeDeletions()
        let verdicts = laws.map { law in
            LawFindings.Verdict(
                number: law.number, sentence: law.sentence, types: law.types.sorted(),
                asked: asked(law), broken: past.findings.broken[law.number, default: 0],
                unknown: past.findings.unknown[law.number, default: 0])
        }
        return LawFindings(
            first: past.first, last: past.position, verdicts: verdicts,
            violations: past.findings.violations)
    }

    private func asked(_ law: Law) -> Int64 {
        switch law.number {
        case 1: checkpoints.known + checkpoints.unknown
        case 40: checkpoints.known
        default:
            law.types.isEmpty
                ? past.position - past.first + 1
                : law.types.reduce(0) { $0 + types.count(named: $1) }
        }
    }
}
