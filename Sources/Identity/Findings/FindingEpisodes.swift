internal import Values

/// What is going on: of each rule and each that it is about the newest finding, to which more of the same
/// belongs.
struct FindingEpisodes: Sendable {
    struct Key: Hashable, Sendable {
        let rule: FindingRule
        let about: FindingSubject
    }

    private struct Episode: Sendable {
        let id: UUID
        /// Time and position of the last event of the episode.
        var last: EventMoment
        /// The position at which the finding was closed.
        var closedAt: Int64?
    }

    /// A finding that the log has, and that is not closed.
    private struct Open: Sendable {
        let key: Key
        var level: FindingLevel
        /// The time of the last event that it rests on.
        let until: Timestamp
    }

    private var episodes: [Key: Episode] = [:]
    private var open: [UUID: Open] = [:]

    /// Whether something belongs to a finding that goes on; if so it goes on from now.
    mutating func extend(_ key: Key, at moment: EventMoment, closesAfter seconds: Int64) -> Bool {
        guard var episode = episodes[key], episode.closedAt == nil,
            moment.time <= episode.last.time.adding(seconds: seconds)
        else { return false }
        episode.last = moment
        episodes[key] = episode
        return true
    }

    /// The position at which the previous episode ended: events up to there are reported already.
    func end(of key: Key) -> Int64 {
        episodes[key].map { $0.closedAt ?? $0.last.position } ?? 0
    }

    mutating func begin(_ key: Key, _ id: UUID, at moment: EventMoment) {
        episodes[key] = Episode(id: id, last: moment)
    }

    /// The finding that goes on, if there is one.
    func current(_ key: Key) -> UUID? {
        episodes[key].flatMap { $0.closedAt == nil ? $0.id : nil }
    }

    // MARK: - What the log says of findings

    mutating func note(_ id: UUID, _ finding: RaisedFinding) {
        open[id] = Open(
            key: Key(rule: finding.rule, about: finding.about), level: finding.level,
            until: finding.to)
    }

    mutating func noteLevel(_ level: FindingLevel, of id: UUID) { open[id]?.level = level }

    func level(of id: UUID) -> FindingLevel? { open[id]?.level }

    mutating func noteClosed(_ id: UUID, at position: Int64) {
        guard let key = open.removeValue(forKey: id)?.key, episodes[key]?.id == id else { return }
        episodes[key]?.closedAt = position
    }

    /// When an open finding closes by itself, unless more of it happens.
    private func deadline(of id: UUID, _ open: Open, _ rules: FindingRules) -> Timestamp {
        let episode = episodes[open.key]
        let last =
            episode?.id == id ? max(episode?.last.time ?? open.until, open.until) : open.until
        return last.adding(seconds: rules[open.key.rule][.closesAfter])
    }

    /// Findings without events for their closing time, in the order of their names.
    func quiet(at now: Timestamp, _ rules: FindingRules) -> [UUID] {
        open.filter { deadline(of: $0.key, $0.value, rules) < now }.map(\.key).sorted()
    }

    /// The time at which the next finding closes.
    func nextQuiet(_ rules: FindingRules) -> Timestamp? {
        open.map { deadline(of: $0.key, $0.value, rules) }.min()
    }

    // MARK: - Housekeeping

    /// Resets times that lie in the future of the clock.
    mutating func begin(anewAt now: Timestamp) {
        for (key, episode) in episodes where episode.last.time > now {
            episodes[key]?.last = EventMoment(position: episode.last.position, time: now)
        }
    }

    /// What is over for so long that no window reaches back to it.
    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        let longest: Int64 = 86_400
        episodes = episodes.filter { key, episode in
            open[episode.id] != nil
                || episode.last.time.adding(seconds: rules[key.rule][.closesAfter] + longest) >= now
        }
    }
}
