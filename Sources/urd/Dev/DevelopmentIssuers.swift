import API
import EventSourcing
import Identity
import ReadModels

/// The issuers that a development server has, so that a request at an address without a realm learns where
/// the realms are. In production that would tell one tenant's callers of the others.
struct DevelopmentIssuers: Sendable {
    let queries: ReadModelQueries
    let port: UInt16

    /// As many as a person reads.
    private static let most = 12

    func all() async throws(LogFailure) -> [String] {
        var issuers: [String] = []
        for realm in try await queries.ask(
            RealmView.page, (after: nil, limit: Self.most), in: .system)
        where realm.realm != .system && !realm.isDisabled {
            let settings = Identity.Settings(overrides: realm.settings)
            if let links = settings[SettingCatalogue.linksBaseURL] {
                issuers.append("\(links) (\(realm.realm))")
                continue
            }
            let hosts = try await queries.ask(
                HostView.page, (after: nil, limit: Self.most), in: realm.realm)
            for host in hosts.map(\.host) {
                issuers.append("\(base(of: host)) (\(realm.realm))")
                guard host == settings[SettingCatalogue.primaryDomain] else { continue }
                let apps = try await queries.ask(
                    AppView.page, (after: nil, limit: Self.most), in: realm.realm)
                issuers += apps.map { app in
                    "\(base(of: "\(app.slug).\(host)")) (\(realm.realm), app \(app.slug))"
                }
            }
        }
        return Array(issuers.prefix(Self.most))
    }

    /// The directory may have the port, and else it is this server's own.
    private func base(of host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "http://\(host)" : "http://\(host):\(port)"
    }
}
