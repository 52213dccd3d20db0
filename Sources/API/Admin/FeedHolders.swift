internal import ReadModels

extension AdminContext {
    /// Whose a feed is, or an answer that waits.
    func feedHolder(of caller: Admin) -> FeedHolder {
        guard case .key(let key) = caller else { return .operator }
        return FeedHolder(owner: key.id, grant: key.id) { [queries] in
            let now = try await queries.adminKey(key.id)
            return now?.revokedAt == nil && now?.digest == key.digest && now?.scope == key.scope
        }
    }
}
