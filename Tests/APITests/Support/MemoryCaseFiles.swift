import Cryptography
import EventSourcing
import JSON
import ReadModels
import Synchronization
import Values

@testable import API

/// Case files over a log in memory: what they prove is made up, what they tell is not.
final class MemoryCaseFiles: MemoryJobs, CaseFiles {
    private let log: WatchedLog
    let jobs = JobShelf<CaseFileKind>()
    private let keysOfErased = Mutex<Set<UUID>>([])

    init(log: WatchedLog) { self.log = log }

    /// Their personal data can be opened no more.
    func erase(_ subject: UUID) { keysOfErased.withLock { _ = $0.insert(subject) } }

    func checkpoint(of realm: RealmID) async throws(LogFailure) -> (size: Int64, note: [UInt8])? {
        let size = try await log.head(of: realm).position
        return (size, Array("urd/\(realm)\n\(size)\n".utf8))
    }

    func evidence(
        at positions: [Int64], under note: [UInt8], opens: Bool, in realm: RealmID
    ) async throws(LogFailure) -> [EventEvidence] {
        let events = try await log.events(from: 1, limit: .max, in: realm)
        let erased = keysOfErased.withLock { $0 }
        return events.filter { positions.contains($0.position) }.map { event in
            let personal: EventEvidence.Personal
            switch event.personal {
            case .opened(let fields):
                personal =
                    !opens
                    ? .sealed
                    : event.subject.map(erased.contains) == true
                        ? .erased : .opened(sealed: [1], key: [2], fields: fields)
            case .none: personal = .none
            case .sealed, .erased, .unreadable: personal = opens ? .erased : .sealed
            }
            return EventEvidence(
                position: event.position, record: JSON.object(event.open).canonical(),
                path: [event.leaf.bytes], personal: personal)
        }
    }

    func extent(of positions: [Int64], in realm: RealmID) async throws(LogFailure) -> EventExtent {
        let events = try await log.events(from: 1, limit: .max, in: realm).filter {
            positions.contains($0.position)
        }
        let erased = keysOfErased.withLock { $0 }
        let openable = events.filter {
            guard case .opened = $0.personal else { return false }
            return $0.subject.map(erased.contains) != true
        }
        let streams = Dictionary(grouping: events, by: \.stream).sorted { $0.key < $1.key }
        return EventExtent(
            streams: streams.map { stream, events in
                EventExtent.Part(
                    stream: stream, first: events.map(\.version).min() ?? 0,
                    last: events.map(\.version).max() ?? 0, count: events.count)
            },
            subjects: Set(openable.compactMap(\.subject)).sorted(),
            openable: Int64(openable.count))
    }

    func leaves(
        fromTile tile: Int64, count: Int, under note: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> [[[UInt8]]] {
        let leaves = try await log.events(from: 1, limit: .max, in: realm).map(\.leaf.bytes)
        return stride(from: Int(tile) * 256, to: leaves.count, by: 256).prefix(count).map {
            Array(leaves[$0..<min($0 + 256, leaves.count)])
        }
    }

    func sign(
        _ id: UUID, lines: Int64, chain: [UInt8], in realm: RealmID
    ) -> [UInt8] { Array("\(id) \(lines) \(Base64.encode(chain))\n".utf8) }
}
