import API

/// Start-time fair queueing, by source and by target, of work of which only a few pieces are done at once. A
/// request from a new source, or about a new target, is served within a turn or two of each of the others,
/// however many requests one of them has waiting.
///
/// It does nothing itself: it says what is to be done.
struct FairTurns {
    struct Limits {
        /// Worked for at once.
        var atOnce = 2
        /// In all, and from one source.
        var mostWaiting = 64
        var mostOfSource = 32
    }

    enum Entry: Equatable {
        case begins
        /// The one of this name waits no longer, to make room.
        case waits(insteadOf: Int?)
        case refused
    }

    private struct Place {
        let name: Int
        let turn: PassphraseTurn
        /// In which round it is served: one later than what its source and its target have there already.
        let round: Int
    }

    private let limits: Limits
    private var running: [Place] = []
    /// In the order in which they came.
    private var waiting: [Place] = []
    /// Of the one who began last.
    private var round = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }

    mutating func enter(_ name: Int, _ turn: PassphraseTurn) -> Entry {
        let place = Place(name: name, turn: turn, round: nextRound(of: turn))
        if running.count < limits.atOnce {
            begin(place)
            return .begins
        }
        guard waiting.count(where: { $0.turn.source == turn.source }) < limits.mostOfSource else {
            return .refused
        }
        var displaced: Int?
        if waiting.count >= limits.mostWaiting {
            // The source with the most waiting entries has the last turns: its last entry makes
            // room.
            guard let last = waiting.indices.max(by: { waiting[$0].round < waiting[$1].round }),
                waiting[last].round > place.round
            else { return .refused }
            displaced = waiting.remove(at: last).name
        }
        waiting.append(place)
        return .waits(insteadOf: displaced)
    }

    /// The work of this name is done: returns the waiting entry that begins now, if any.
    mutating func leave(_ name: Int) -> Int? {
        running.removeAll { $0.name == name }
        guard let next = waiting.indices.min(by: { waiting[$0].round < waiting[$1].round }) else {
            if running.isEmpty { round = 0 }
            return nil
        }
        let place = waiting.remove(at: next)
        begin(place)
        return place.name
    }

    /// Removes an entry that stops waiting; false if it has already begun.
    mutating func giveUp(_ name: Int) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.name == name }) else { return false }
        waiting.remove(at: index)
        return true
    }

    private mutating func begin(_ place: Place) {
        running.append(place)
        round = max(round, place.round)
    }

    private func nextRound(of turn: PassphraseTurn) -> Int {
        var next = round
        for other in running + waiting
        where other.turn.source == turn.source || other.turn.target == turn.target {
            next = max(next, other.round + 1)
        }
        return next
    }
}
