import EventSourcing
import ReadModels
import Values

@testable import API

/// Lists with filters, which may be made to stop somewhere (`WatchedLog.stopScans`).
extension MemoryQueries {
    func filteredAuditTrail(
        of realm: RealmID, _ asked: AuditPage
    ) async throws(LogFailure) -> ScannedPage<AuditEntry, Int64> {
        let all = try await auditTrail(of: realm, (asked.selection, asked.after, .max))
        let wanted = try await wanted(asked.selection.filter, of: realm)
        let stop = log.scanStop
        let found = all.filter { wanted.contains($0.position) && $0.position <= stop ?? .max }
        return ScannedPage(Array(found.prefix(asked.limit)), stoppedAt: stop)
    }

    func filteredLoginHistory(
        of realm: RealmID, _ asked: LoginHistoryPage
    ) async throws(LogFailure) -> ScannedPage<LoginView, LoginPlace> {
        let found = try await logins(of: realm, asked.selection, after: asked.after)
        return ScannedPage(
            Array(found.prefix(asked.limit)),
            stoppedAt: log.scanStop.map { LoginPlace(at: Timestamp(seconds: 0), position: $0) })
    }

    func loginCounts(
        of realm: RealmID, _ selection: LoginSelection, by group: LoginGroup,
        _ place: LoginPlace?
    ) async throws(LogFailure) -> ScannedPage<LoginCount, LoginPlace> {
        let found = try await logins(of: realm, selection, after: place)
        let groups = Dictionary(grouping: found) { login -> String? in
            switch group {
            case .hour: "\(login.at.description.prefix(13)):00:00Z"
            case .day: String(login.at.description.prefix(10))
            case .client: login.clientID
            case .method: login.method
            case .outcome: login.isRefused ? "refused" : "signed_in"
            case .reason: login.reason
            case .device: login.device
            case .country: login.country
            }
        }
        let counts = groups.map { value, logins in
            LoginCount(
                value: value, count: Int64(logins.count),
                refused: Int64(logins.count(where: \.isRefused)))
        }
        return ScannedPage(
            counts.sorted { ($1.count, $0.value ?? "") < ($0.count, $1.value ?? "") },
            stoppedAt: log.scanStop.map { LoginPlace(at: Timestamp(seconds: 0), position: $0) })
    }

    private func logins(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?
    ) async throws(LogFailure) -> [LoginView] {
        let all = try await loginHistory(of: realm, (selection, place, .max))
        let events = try await log.events(from: 1, limit: .max, in: realm)
        return all.filter { login in
            guard let filter = selection.filter else { return true }
            guard let event = events.first(where: { $0.position == login.position }) else {
                return false
            }
            return filter.holds { login.values(of: $0) ?? EventFacts(event).values(of: $0) }
        }
    }

    private func wanted(
        _ filter: FilterExpression?, of realm: RealmID
    ) async throws(LogFailure) -> Set<Int64> {
        let events = try await log.events(from: 1, limit: .max, in: realm)
        let about = try await references(of: events.map(\.position), in: realm).value
        return Set(
            events.filter { filter?.holds(for: $0, about: about[$0.position] ?? []) ?? true }
                .map(\.position))
    }
}

extension LoginView {
    /// Nil where the event says it.
    fileprivate func values(of attribute: FilterAttribute) -> [FilterValue]? {
        func texts(_ text: String?) -> [FilterValue] { text.map { [.text($0)] } ?? [] }
        return switch attribute.name {
        case "at": [.time(at)]
        case "account": account.map { [.id($0)] } ?? []
        case "session": session.map { [.id($0)] } ?? []
        case "client": texts(clientID)
        case "outcome": texts(isRefused ? "refused" : "signed_in")
        case "reason": texts(reason)
        case "method": texts(method)
        case "source": texts(source)
        case "device": texts(device)
        case "channel": texts(channel)
        case "app": texts(app?.description)
        case "ended_at": endedAt.map { [.time($0)] } ?? []
        case "end_reason": texts(endReason)
        default: nil
        }
    }
}
