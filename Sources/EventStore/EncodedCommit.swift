import Cryptography
import EventSourcing
import JSON
import Values

/// A commit as it goes over the wire: sealed, hashed and authenticated before any lock is held.
struct EncodedCommit: Sendable {
    struct Read: Hashable, Sendable {
        let stream: UUID
        let version: Int32
        /// How many events the command appends to it; 0 where it was only read.
        let events: Int32
    }

    struct ClaimRow: Sendable {
        let kind: String
        let key: [UInt8]
        let stream: UUID
        let take: Bool
    }

    struct EventRow: Sendable {
        let stream: UUID
        let version: Int32
        let type: String
        let revision: Int16
        let subject: UUID?
        let leaf: [UInt8]
        let mac: [UInt8]
        let data: [UInt8]
        let sealed: [UInt8]?
        /// The key that it is sealed under, by its name in the database.
        let key: UUID?
    }

    let realm: RealmID
    let epoch: Int
    let command: UUID
    let digest: [UInt8]
    let at: Timestamp
    let meta: [UInt8]
    let reads: [Read]
    let claims: [ClaimRow]
    let events: [EventRow]
    let size: Int
    /// The key that authenticates it, by its name in the database.
    let mac: UUID
    /// Keys that are not known to have sealed anything in the log yet.
    let fresh: [UUID: SubjectKey]
    /// Of the keyring, when all these keys were taken from it.
    let generation: Int

    /// One of the events as a reader of the log finds it.
    func recorded(_ index: Int, of commit: Commit, from first: Int64) -> Recorded {
        let (new, row) = (commit.events[index], events[index])
        let personal = new.personal.merging(
            new.origin(personalFields(commit.origin), besideSomebodys: commit.isSomebodys)
        ) { own, _ in own }
        guard let leaf = LeafHash(row.leaf) else { preconditionFailure("A leaf is a SHA-256.") }
        return Recorded(
            realm: realm, position: first + Int64(index), stream: row.stream,
            version: Int(row.version), name: row.type, revision: Int(row.revision), at: at,
            command: command, subject: row.subject, actor: commit.origin.actor,
            client: commit.origin.client, correlation: commit.origin.correlation, leaf: leaf,
            open: new.open,
            // Of who was erased nothing is written, and nothing told.
            personal: row.sealed == nil ? .none : .opened(personal))
    }
}

/// Turns commits into what the database takes.
struct CommitEncoder: Sendable {
    let keyring: Keyring

    func encode(_ commit: Commit, epoch: Int) async throws(LogFailure) -> EncodedCommit {
        guard commit.isStorable else { throw .refused }
        let generation = keyring.generation
        let keys = try await keyring.keys(of: commit.realm)
        let personal = sealedFields(of: commit)
        let sealing = try await sealingKeys(
            of: Set(personal.compactMap(\.?.owner)), in: commit.realm)
        let meta = metaFields(commit.origin).canonical()
        var written: [UUID: Int32] = [:]
        var events: [EncodedCommit.EventRow] = []
        events.reserveCapacity(commit.events.count)
        var size = 0
        for (event, personal) in zip(commit.events, personal) {
            guard let before = commit.reads[event.stream] else {
                preconditionFailure("A stream that is written must have been read.")
            }
            let offset = written[event.stream, default: 0] + 1
            written[event.stream] = offset
            let version = column(before) + offset
            let subject = personal?.owner ?? event.subject
            var sealed: [UInt8]?
            var key: UUID?
            if let personal, let found = sealing.all[personal.owner] {
                sealed = try seal(personal.fields, under: found, event, version, in: commit.realm)
                key = found.id
            }
            let data = JSON.object(event.open).canonical()
            let leaf = Record(
                at: commit.origin.at, command: commit.command, data: data, meta: meta,
                realm: commit.realm.name, revision: event.revision, sealed: sealed,
                stream: event.stream, subject: subject, type: event.name, version: Int(version)
            ).leaf
            events.append(
                EncodedCommit.EventRow(
                    stream: event.stream, version: version, type: event.name,
                    revision: Int16(event.revision), subject: subject, leaf: leaf,
                    mac: Record.mac(leaf, under: keys.mac[0]), data: data, sealed: sealed,
                    key: key))
            size += data.count + (sealed?.count ?? 0) + meta.count + 200
        }
        return EncodedCommit(
            realm: commit.realm, epoch: epoch, command: commit.command, digest: commit.digest,
            at: commit.origin.at, meta: meta,
            reads: commit.reads.map {
                EncodedCommit.Read(
                    stream: $0.key, version: column($0.value), events: written[$0.key] ?? 0)
            },
            claims: claims(commit.claims, keys), events: events, size: size,
            mac: keys.macID, fresh: sealing.fresh, generation: generation)
    }

    /// A claim that is both released and taken by one command stays as it is.
    private func claims(_ changes: [ClaimChange], _ keys: RealmKeys) -> [EncodedCommit.ClaimRow] {
        let counts = changes.reduce(into: [Claim: Int]()) { $0[$1.claim, default: 0] += 1 }
        return changes.filter { counts[$0.claim] == 1 }.map { change in
            let key = keys.blind(change.claim)
            return switch change {
            case .take(let claim, let stream):
                EncodedCommit.ClaimRow(kind: claim.kind, key: key, stream: stream, take: true)
            case .release(let claim, let stream):
                EncodedCommit.ClaimRow(kind: claim.kind, key: key, stream: stream, take: false)
            }
        }
    }

    /// What is sealed of each event, and for whom; nil where nothing of it is personal.
    private func sealedFields(of commit: Commit) -> [(owner: UUID, fields: JSONObject)?] {
        let origin = personalFields(commit.origin)
        let isSomebodys = commit.isSomebodys
        return commit.events.map { event in
            let fields = event.personal.merging(
                event.origin(origin, besideSomebodys: isSomebodys)
            ) { own, _ in own }
            guard !fields.isEmpty else { return nil }
            return (event.subject ?? anonymousSubject(commit.origin.at), fields)
        }
    }

    /// The keys of subjects, without those that are erased. Where they are not known they are asked for together: each
    /// that is made waits for the disk.
    private func sealingKeys(
        of subjects: Set<UUID>, in realm: RealmID
    ) async throws(LogFailure) -> (all: [UUID: SubjectKey], fresh: [UUID: SubjectKey]) {
        var all: [UUID: SubjectKey] = [:]
        for subject in subjects { all[subject] = keyring.knownKey(of: subject, in: realm) }
        let unknown = subjects.filter { all[$0] == nil }
        guard !unknown.isEmpty else { return (all, [:]) }
        let found = try await unknown.readTogether { (subject) throws(LogFailure) in
            (subject, try await keyring.sealingKey(of: subject, in: realm))
        }
        var fresh: [UUID: SubjectKey] = [:]
        for (subject, key) in found { fresh[subject] = key }
        return (all.merging(fresh) { $1 }, fresh)
    }

    private func seal(
        _ personal: JSONObject, under key: SubjectKey, _ event: NewEvent, _ version: Int32,
        in realm: RealmID
    ) throws(LogFailure) -> [UInt8] {
        let seal = EventSeal(
            realm: realm, stream: event.stream, version: Int(version), type: event.name)
        guard
            let sealed = try? seal.seal(JSON.object(personal).canonical(), under: key.sealing)
        else { throw .damaged }
        return sealed
    }
}

/// A version as its column holds it. No stream gets near the end, so that an absurd one is simply
/// not the stream's version.
private func column(_ version: Int) -> Int32 {
    Int32(max(-1, min(version, Int(Int32.max / 2))))
}

private func metaFields(_ origin: Origin) -> JSON {
    var fields: JSONObject = ["actor": .string(origin.actor)]
    if let client = origin.client { fields["client"] = .string(client) }
    if let correlation = origin.correlation { fields["correlation"] = .string(correlation) }
    return .object(fields)
}

/// The origin of the request is personal in every event.
private func personalFields(_ origin: Origin) -> JSONObject {
    var fields: JSONObject = [:]
    if let address = origin.address { fields["$address"] = .string(address) }
    if let userAgent = origin.userAgent { fields["$userAgent"] = .string(userAgent) }
    return fields
}
