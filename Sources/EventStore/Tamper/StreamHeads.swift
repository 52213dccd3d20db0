import EventSourcing
import Postgres
import Values

/// Compares what the database notes of each stream with what its events say.
struct StreamHeads {
    let realm: RealmID
    /// Whether the log was read from a position on: most streams were not met then.
    let startsInside: Bool
    let connection: Connection

    /// - Parameters:
    ///   - versions: the last version of each stream that was met.
    ///   - inherited: streams that began before the first position that was read, by the version
    ///     that was met first.
    func compare(
        _ versions: VersionTable, inherited: [UUID: Int32], last: Int64, good: Int64
    ) throws(Failure) -> Finding? {
        if let gap = try firstGap(in: inherited) {
            return Finding(.versionGap, at: gap, notBefore: gap)
        }
        var differing: [(stream: UUID, noted: Int32)] = []
        var known = 0
        let copy = """
            copy (select stream, version from urd.stream where realm = '\(realm.name)')
            to stdout (format binary)
            """
        var isHeader = true
        try connection.copyOut(copy) { message throws(Failure) in
            let row = UnsafeRawBufferPointer(message)
            let content = isHeader ? UnsafeRawBufferPointer(rebasing: row.dropFirst(19)) : row
            isHeader = false
            var fields = CopyFields(content)
            guard fields.count == 2, let id = fields.next(16), let number = fields.next(4) else {
                return
            }
            let stream = UUID(
                high: id.bigEndian(UInt64.self),
                low: UnsafeRawBufferPointer(rebasing: id[8...]).bigEndian(UInt64.self))
            let noted = number.bigEndian(Int32.self)
            let found = versions[stream]
            if found != 0 { known += 1 }
            if noted != found, found != 0 || !startsInside { differing.append((stream, noted)) }
        }
        let positions = try differing.prefix(1000).map { (stream, noted) throws(Failure) -> Int64 in
            noted > versions[stream]
                ? last + 1 : try position(of: stream, version: noted + 1) ?? last + 1
        }
        if let first = positions.min() {
            return Finding(.streamDisagrees, at: first, notBefore: min(good + 1, first))
        }
        guard known < versions.count else { return nil }
        return Finding(.streamDisagrees, at: try firstOrphan() ?? last, notBefore: good + 1)
    }

    private func position(of stream: UUID, version: Int32) throws(Failure) -> Int64? {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(stream)
        parameters.add(version)
        let rows = try connection.execute(findingPosition, parameters)
        return rows.isEmpty ? nil : rows.int64(0, 0)
    }

    /// The first event of a stream that the database does not note at all.
    private func firstOrphan() throws(Failure) -> Int64? {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(findingOrphan, parameters)
        return rows.isEmpty || rows.isNull(0, 0) ? nil : rows.int64(0, 0)
    }

    /// The first position whose stream lacks the version before, among streams that began earlier.
    private func firstGap(in inherited: [UUID: Int32]) throws(Failure) -> Int64? {
        var first: Int64?
        var rest = inherited.filter { $0.value != 0 }.map { ($0.key, $0.value) }[...]
        while !rest.isEmpty {
            var streams = ArrayParameter(of: .uuid)
            var versions = ArrayParameter(of: .int4)
            for (stream, version) in rest.prefix(10_000) {
                streams.append(stream)
                versions.append(version)
            }
            rest = rest.dropFirst(10_000)
            var parameters = Parameters()
            parameters.add(realm.name)
            parameters.add(streams)
            parameters.add(versions)
            let rows = try connection.execute(findingGap, parameters)
            if !rows.isEmpty, !rows.isNull(0, 0) {
                first = min(first ?? .max, rows.int64(0, 0))
            }
        }
        return first
    }
}

private let findingPosition = Statement(
    "verify_position",
    """
    select position from urd.event where realm = $1 and stream = $2 and version = $3
    order by position limit 1
    """)
private let findingOrphan = Statement(
    "verify_orphan",
    """
    select min(e.position) from urd.event e
    where e.realm = $1 and not exists (
        select from urd.stream s where s.realm = $1 and s.stream = e.stream)
    """)
private let findingGap = Statement(
    "verify_gap",
    """
    select min(e.position)
    from unnest($2, $3) as m (stream, version)
        join urd.event e on e.realm = $1 and e.stream = m.stream and e.version = m.version
    where m.version > 1 and not exists (
        select from urd.event b
        where b.realm = $1 and b.stream = m.stream and b.version = m.version - 1
            and b.position < e.position)
    """)
