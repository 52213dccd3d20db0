internal import EventSourcing
internal import Identity
internal import ReadModels

extension AdminContext {
    /// Whose a feed is, or an answer that waits.
    func feedHolder(of caller: Admin) -> FeedHolder {
        guard case .key(let key) = caller else { return .operator }
        return FeedHolder(owner: key.id, grant: key.id) { [queries] in
            let now = try await queries.ask(AdminKeyView.byID, key.id, in: .system)
            return now?.revokedAt == nil && now?.digest == key.digest && now?.scope == key.scope
        }
    }
}

extension Call<AdminContext> {
    /// What CloudEvents of the realm have for their source: its issuer.
    func cloudSource() async throws(Problem) -> String {
        let known = try await knownRealm()
        let settings = Identity.Settings(overrides: known.settings)
        if let base = settings[SettingCatalogue.linksBaseURL] {
            return base.hasSuffix("/") ? String(base.dropLast()) : base
        }
        let hosts = try await context.ask(HostView.page, (after: nil, limit: 1), in: known.realm)
        return hosts.first.map { "https://\($0.host)" } ?? "urn:urd:realm:\(known.realm)"
    }
}
