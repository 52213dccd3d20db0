internal import EventSourcing
internal import ReadModels
internal import Synchronization

/// One reader's hold on a kept cursor. Nothing is sent that the database has not permitted: a reader whose
/// place was taken while it was frozen sends nothing more.
final class FeedLease: Sendable {
    enum Standing: UInt8 {
        case held
        /// Another reader has the cursor, or the subscription was deleted.
        case lost
    }

    let name: FeedLeaseName
    private let cursors: any FeedCursors
    private let leases: FeedLeases
    private let noted = Atomic(Standing.held.rawValue)
    /// The cursor up to which events may be sent.
    private let permitted = Mutex(LogCursor.start)

    init(_ name: FeedLeaseName, _ cursors: any FeedCursors, of leases: FeedLeases) {
        self.name = name
        self.cursors = cursors
        self.leases = leases
    }

    var standing: Standing { Standing(rawValue: noted.load(ordering: .relaxed)) ?? .lost }

    func lose() { noted.store(Standing.lost.rawValue, ordering: .relaxed) }

    /// False where this may not be sent: the lease is lost.
    func permit(through cursor: LogCursor) async throws(LogFailure) -> Bool {
        let known = permitted.withLock { $0 }
        if standing == .held, known.epoch == cursor.epoch, known.position >= cursor.position {
            return true
        }
        guard standing == .held, try await cursors.permit(name, through: cursor) else {
            lose()
            return false
        }
        permitted.withLock { $0 = cursor }
        return true
    }

    /// Whether the subscription is still there, for another reader.
    func isTakenOver() async -> Bool {
        do throws(LogFailure) {
            return try await cursors.cursor(of: name.subscription, in: name.realm) != nil
        } catch {
            // It cannot be known that the lease is gone.
            return true
        }
    }

    /// Lets the next reader in at once. Where that cannot be written, the lease runs out.
    func release() async {
        leases.forget(name)
        guard standing == .held else { return }
        lose()
        try? await cursors.release(name)
    }

    /// Of a feed that never began.
    deinit {
        leases.forget(name)
        guard standing == .held else { return }
        Task { [cursors, name] in try? await cursors.release(name) }
    }
}
