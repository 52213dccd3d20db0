public import EventSourcing
public import Identity
public import ReadModels
public import Values

/// What is asked of the web apps and konnectors of a realm. Answers are as fresh as the log.
public protocol WebAppQueries: Sendable {
    /// Removed web apps are not found.
    func webApp(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> WebAppView?

    func webApp(
        slug: String, kind: WebAppKind, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView?

    /// By the host of its origin, with its port if that is not the usual one.
    func webApp(originHost host: String, in realm: RealmID) async throws(LogFailure) -> WebAppView?
}
