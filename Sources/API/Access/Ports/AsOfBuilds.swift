public import EventSourcing
public import ReadModels
public import Values

/// Whole realms as of a moment: `AsOfBuildStore` over the database.
public protocol AsOfBuilds: Sendable {
    func create(_ build: AsOfBuild) async throws(LogFailure) -> Bool

    func build(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> AsOfBuild?

    func builds(in realm: RealmID) async throws(LogFailure) -> [AsOfBuild]

    @discardableResult
    func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool

    func items(
        _ list: AsOfList, of build: AsOfBuild, account: UUID?, after: AsOfPlace?, limit: Int
    ) async throws(LogFailure) -> [AsOfBuildStore.Item]?
}
