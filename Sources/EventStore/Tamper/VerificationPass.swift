import EventSourcing
import Laws
import Values

/// Where a pass over the log first met something that does not fit.
enum TamperEvidence: Sendable, Equatable {
    /// A row is wrong by itself.
    case row(Finding.Problem, position: Int64)
    /// A stored tile is missing or is not what the events give.
    case tile(level: Int, index: Int64)
    /// The events do not have the root that was signed.
    case root(size: Int64, isFile: Bool)
    case checkpoint(size: Int64)
}

/// The second thread of a verification: derives each leaf from the columns, lets the tree grow, and
/// compares with all that is stored. Stops at the first thing that does not fit.
struct VerificationPass: ~Copyable {
    private let realm: [UInt8]
    private let keys: RealmKeys
    private let tiled: Int64
    private(set) var frontier: TileFrontier
    /// The tree at the last signed root that the events had.
    private(set) var good: TileFrontier
    private(set) var checkpoints = 0
    private(set) var versions = VersionTable()
    /// Streams that began before the first position, by the version that was met first.
    private(set) var inherited: [UUID: Int32] = [:]
    private let startsInside: Bool
    /// Nil where laws are not asked for.
    private var lawbook: Lawbook?
    private var record = RecordBuffer()
    private var page = VerificationWork.Page(last: 0, tiles: [:], checkpoints: [])
    private var nextCheckpoint = 0

    /// - Parameters:
    ///   - start: the tree before the first position, already believed.
    ///   - tiled: the size of the database's own last checkpoint: up to there, every full tile must be
    ///     stored.
    init(
        _ realm: RealmID, keys: RealmKeys, start: TileFrontier, tiled: Int64, holdsLaws: Bool
    ) {
        self.realm = Array(realm.name.utf8)
        self.keys = keys
        self.tiled = tiled
        frontier = start
        good = start
        startsInside = start.size > 0
        lawbook = holdsLaws ? Lawbook(from: start.size + 1) : nil
    }

    /// How many positions were found to hold.
    var position: Int64 { frontier.size }

    /// What the laws say of them.
    var laws: LawFindings? { lawbook?.findings() }

    mutating func take(_ work: VerificationWork) -> TamperEvidence? {
        switch work {
        case .page(let page):
            if let evidence = finishPage() { return evidence }
            self.page = page
            nextCheckpoint = 0
            return nil
        case .rows(let rows):
            return take(rows)
        case .end:
            return finishPage()
        }
    }

    private func finishPage() -> TamperEvidence? {
        position < page.last ? .row(.removed, position: position + 1) : nil
    }

    private mutating func take(_ rows: VerificationWork.Rows) -> TamperEvidence? {
        var start = 0
        return rows.bytes.withUnsafeBytes { bytes in
            for end in rows.ends {
                let row = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                start = end
                if let evidence = take(row) { return evidence }
            }
            return nil
        }
    }

    private mutating func take(_ row: UnsafeRawBufferPointer) -> TamperEvidence? {
        let expected = position + 1
        guard let event = EventColumns(row) else { return .row(.unreadable, position: expected) }
        if event.position > expected { return .row(.removed, position: expected) }
        if event.position < expected { return .row(.repeated, position: event.position) }
        guard event.hasWholeObjects, event.version > 0 else {
            return .row(.unreadable, position: expected)
        }
        event.writeRecord(realm: realm, into: &record)
        let leaf = record.leaf
        guard leaf == event.leaf else { return .row(.changed, position: expected) }
        guard keys.isAuthentic(leaf, mac: event.mac) else {
            return .row(.forged, position: expected)
        }
        if let problem = note(event) { return .row(problem, position: expected) }
        lawbook?.take(event.logged)
        var full: [TileFrontier.Tile] = []
        frontier.append(leaf) { full.append($0) }
        for tile in full {
            if let evidence = compare(tile) { return evidence }
        }
        return compareCheckpoints()
    }

    private mutating func note(_ event: EventColumns) -> Finding.Problem? {
        let before = versions.note(event.version, of: event.stream)
        if before == 0, startsInside {
            inherited[event.stream] = event.version
            return nil
        }
        guard event.version != before + 1 else { return nil }
        return event.version <= before ? .repeated : .versionGap
    }

    private func compare(_ tile: TileFrontier.Tile) -> TamperEvidence? {
        let end = (tile.index + 1) << Int64(TileAddress.height * (tile.level + 1))
        guard end <= tiled else { return nil }
        let stored = page.tiles[.init(level: tile.level, index: tile.index)]
        return stored == tile.hashes ? nil : .tile(level: tile.level, index: tile.index)
    }

    private mutating func compareCheckpoints() -> TamperEvidence? {
        while nextCheckpoint < page.checkpoints.count,
            page.checkpoints[nextCheckpoint].size == position
        {
            let stored = page.checkpoints[nextCheckpoint]
            nextCheckpoint += 1
            guard let signed = stored.signed else { return .checkpoint(size: stored.size) }
            lawbook?.takeCheckpoint(
                size: signed.size, epoch: signed.epoch, isOfLog: signed.root == frontier.root)
            guard signed.root == frontier.root else {
                return .root(size: stored.size, isFile: stored.isFile)
            }
            good = frontier
            checkpoints += 1
        }
        return nil
    }
}
