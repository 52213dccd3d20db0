import Cryptography
public import EventSourcing
import JSON
import Postgres
public import Values

/// What convinces the reader of a case file.
extension LogProofs {
    /// The events at some positions, in their order, each proven against a checkpoint that this realm signed.
    /// - Parameter opens: whether to hand out what opens them.
    public func evidence(
        at positions: [Int64], under note: [UInt8], opens: Bool, in realm: RealmID
    ) async throws -> [EventEvidence] {
        try await read(realm) { [keyring] reader in
            guard let checkpoint = reader.keys.checkpoint(note) else { throw ProofFailure.damaged }
            return try reader.evidence(
                at: positions, under: checkpoint,
                opens ? EvidenceOpener(keyring: keyring, keys: reader.keys, realm: realm) : nil)
        }
    }

    public func extent(
        of positions: [Int64], in realm: RealmID
    ) async throws -> EventExtent {
        try await read(realm) { reader in try reader.extent(of: positions) }
    }

    /// Leaves of the tree that a checkpoint signs: those of whole tiles, from one on.
    public func leaves(
        fromTile tile: Int64, count: Int, under note: [UInt8], in realm: RealmID
    ) async throws -> [[[UInt8]]] {
        try await read(realm) { reader in
            guard let size = reader.keys.checkpoint(note)?.size else { throw ProofFailure.damaged }
            let tree = TileReader(realm, size: size, on: reader.connection)
            var tiles: [[[UInt8]]] = []
            var index = tile
            while tiles.count < count, index << Int64(TileAddress.height) < size {
                let rest = size - index << Int64(TileAddress.height)
                let width = Int(min(Int64(TileAddress.fullWidth), rest))
                guard let hashes = try tree.hashes(level: 0, index: index, width: width) else {
                    throw ProofFailure.damaged
                }
                tiles.append(hashes.map(\.bytes))
                index += 1
            }
            return tiles
        }
    }

    /// A note of the realm's log key over the end of a case file. Its first line is never a log's origin: it
    /// cannot be taken for a checkpoint.
    public func signCase(
        _ id: UUID, lines: Int64, chain: [UInt8], in realm: RealmID
    ) async throws -> [UInt8] {
        let name = try await verifier(of: realm).name
        guard let signer = NoteSigner(name: name, key: try await keyring.keys(of: realm).signing)
        else {
            preconditionFailure("The name of the key was that of a verifier.")
        }
        let text = "urd-case/1\n\(name)\n\(id)\n\(lines)\n\(Base64.encode(chain))\n"
        return try SignedNote(Array(text.utf8), signedBy: signer).bytes
    }
}

/// Opens what is sealed, with the keys of subjects as one snapshot has them.
struct EvidenceOpener {
    let keyring: Keyring
    let keys: RealmKeys
    let realm: RealmID

    func personal(
        _ sealed: [UInt8], _ seal: EventSeal, _ subject: UUID?, _ key: KeyTable.SubjectKey?
    ) -> EventEvidence.Personal {
        if case .erased? = key { return .erased }
        guard let subject, case .held(_, let version, let wrapped)? = key,
            let opened = keyring.open(wrapped, by: version, of: subject, in: realm, keys),
            let bytes = try? seal.open(sealed, under: opened),
            let fields = (try? JSON.parse(bytes))?.object
        else { return .unreadable }
        guard let own = seal.handedOutKey(of: sealed, under: opened) else {
            return .unprovable(fields: fields)
        }
        return .opened(sealed: sealed, key: own, fields: fields)
    }
}

extension SealedReader {
    private struct Row {
        let position: Int64
        let record: [UInt8]
        let seal: EventSeal
        let subject: UUID?
        let sealed: [UInt8]?
    }

    fileprivate func evidence(
        at positions: [Int64], under checkpoint: SignedCheckpoint, _ opener: EvidenceOpener?
    ) throws -> [EventEvidence] {
        let rows = try rows(at: positions)
        for (position, row) in zip(positions, rows) where row.position != position {
            throw ProofFailure.missing(position: position)
        }
        guard rows.count == positions.count else {
            throw ProofFailure.missing(position: positions[rows.count])
        }
        let subjects = opener == nil ? [] : rows.compactMap { $0.sealed == nil ? nil : $0.subject }
        let held = try KeyTable.find(Set(subjects), realm, on: connection)
        let tree = TileReader(realm, size: checkpoint.size, on: connection)
        return try rows.map { row in
            let personal: EventEvidence.Personal =
                switch (row.sealed, opener) {
                case (nil, _): .none
                case (_?, nil): .sealed
                case (let sealed?, let opener?):
                    opener.personal(
                        sealed, row.seal, row.subject, row.subject.flatMap { held[$0] })
                }
            return EventEvidence(
                position: row.position, record: row.record,
                path: try path(of: row.position, row.record, under: checkpoint, tree).map(\.bytes),
                personal: personal)
        }
    }

    private func path(
        of position: Int64, _ record: [UInt8], under checkpoint: SignedCheckpoint,
        _ tree: TileReader
    ) throws -> [TreeHash] {
        guard let ranges = MerkleProof.inclusion(of: position - 1, in: checkpoint.size) else {
            throw ProofFailure.notSealed(sealed: checkpoint.size)
        }
        let path = try ranges.map { range in
            guard let hash = try tree.root(of: range) else { throw ProofFailure.damaged }
            return hash
        }
        guard
            MerkleProof.isIncluded(
                Merkle.leaf(record), at: position - 1, in: checkpoint.size, root: checkpoint.root,
                path: path)
        else { throw ProofFailure.damaged }
        return path
    }

    private func rows(at positions: [Int64]) throws(Postgres.Failure) -> [Row] {
        var rows: [Row] = []
        var buffer = RecordBuffer()
        let name = Array(realm.name.utf8)
        try EventCopy.read(realm, at: positions, on: connection) { row in
            guard let event = EventColumns(row), event.hasWholeObjects else { return }
            event.writeRecord(realm: name, into: &buffer)
            rows.append(
                Row(
                    position: event.position, record: buffer.record,
                    seal: EventSeal(
                        realm: realm, stream: event.stream, version: Int(event.version),
                        type: String(decoding: event.type, as: UTF8.self)),
                    subject: event.subjectID, sealed: event.sealed.map { Array($0) }))
        }
        return rows
    }

    fileprivate func extent(of positions: [Int64]) throws(Postgres.Failure) -> EventExtent {
        var parameters = Parameters()
        parameters.add(realm.name)
        var array = ArrayParameter(of: .int8)
        for position in positions { array.append(position) }
        parameters.add(array)
        let streams = try connection.execute(readingStreams, parameters)
        let subjects = try connection.execute(readingSubjects, parameters)
        return EventExtent(
            streams: (0..<streams.count).map { row in
                EventExtent.Part(
                    stream: streams.identifier(row, 0), first: Int(streams.int32(row, 1)),
                    last: Int(streams.int32(row, 2)), count: Int(streams.int64(row, 3)))
            },
            subjects: (0..<subjects.count).map { subjects.identifier($0, 0) },
            openable: (0..<subjects.count).reduce(0) { $0 + subjects.int64($1, 1) })
    }
}

private let readingStreams = Statement(
    "evidence_streams",
    """
    select e.stream, min(e.version), max(e.version), count(*) from urd.event e
    where e.realm = $1 and e.position = any ($2) group by e.stream order by e.stream
    """)
private let readingSubjects = Statement(
    "evidence_subjects",
    """
    select e.subject, count(*) from urd.event e
    join urd.subject_key k on k.realm = e.realm and k.subject = e.subject
    where e.realm = $1 and e.position = any ($2) and e.sealed is not null
        and k.wrapped is not null
    group by e.subject order by e.subject
    """)
