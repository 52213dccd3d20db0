import ReadModels

/// What a node has in hand of the work that is due: that which is under way, and that whose record the read
/// model has not seen yet.
struct InFlightWork {
    /// Maximum number of entries under way.
    let limit: Int
    private var underWay: Set<DueWork.Entry> = []
    /// The time until which each settled entry is left alone.
    private var settled: [DueWork.Entry: ContinuousClock.Instant] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// Of so many entries that are due as many are free as there is room for.
    mutating func enough(at now: ContinuousClock.Instant) -> Int {
        settled = settled.filter { $0.value > now }
        return settled.count + underWay.count + limit
    }

    /// Those that are free to be taken, as many as there is room for.
    mutating func take(_ entries: [DueWork.Entry]) -> [DueWork.Entry] {
        var fresh: [DueWork.Entry] = []
        for entry in entries where underWay.count < limit && settled[entry] == nil {
            if underWay.insert(entry).inserted { fresh.append(entry) }
        }
        return fresh
    }

    /// The work on an entry is done, and the entry is not taken again before a time.
    mutating func settle(_ entry: DueWork.Entry, until: ContinuousClock.Instant) {
        underWay.remove(entry)
        settled[entry] = until
    }
}
