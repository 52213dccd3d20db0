import API

/// Start-time fair queueing, by source, by its block of networks and by target, of work of which only a few pieces are
/// done at once. A request from a new block, or about a new target, is served within a turn or two of each of the
/// others, however many requests one of them has waiting.
///
/// The type performs no work: it returns the actions.
struct FairTurns {
    struct Limits {
        /// Number of passphrase comparisons that run at once.
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
    /// Waiting entries in the order of their arrival.
    private var waiting: [Place] = []
    /// The round of the entry that began last.
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
            guard let last = lastOfTheCrowd(makingRoomFor: place) else { return .refused }
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

    /// Who makes room: the last one of the block that has the most waiting, if it has more than the newcomer's own
    /// would have; of one block the last of its narrower blocks; and of one network the one with the last turn.
    private func lastOfTheCrowd(makingRoomFor place: Place) -> Int? {
        var crowd = Array(waiting.indices)
        for level in place.turn.blocks.indices {
            func block(_ index: Int) -> String {
                let turn = waiting[index].turn
                return turn.blocks.indices.contains(level) ? turn.blocks[level] : turn.source
            }
            let blocks = Dictionary(grouping: crowd, by: block)
            let own = place.turn.blocks[level]
            guard
                let largest = blocks.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
                )
            else { return nil }
            if largest.value.count > (blocks[own]?.count ?? 0) + 1 {
                return largest.value.max { waiting[$0].round < waiting[$1].round }
            }
            guard let ours = blocks[own] else { break }
            crowd = ours
        }
        return crowd.max { waiting[$0].round < waiting[$1].round }
            .flatMap { waiting[$0].round > place.round ? $0 : nil }
    }

    private mutating func begin(_ place: Place) {
        running.append(place)
        round = max(round, place.round)
    }

    private func nextRound(of turn: PassphraseTurn) -> Int {
        var next = round
        for other in running + waiting
        where other.turn.source == turn.source || other.turn.target == turn.target
            || turn.blocks.last.map(other.turn.blocks.contains) ?? false
        {
            next = max(next, other.round + 1)
        }
        return next
    }
}
