import EventSourcing
import EventStore
import Values

extension RealmOption {
    /// The position of the realm's last event; a realm without events does not exist.
    @discardableResult
    func requireExists(in store: Store, remedy: String? = nil) async throws -> Int64 {
        let head = try await store.log.head(of: realm).position
        guard head > 0 else { throw try await Self.missing(realm.name, in: store, remedy: remedy) }
        return head
    }

    static func missing(
        _ name: String, in store: Store, remedy: String? = nil
    ) async throws -> CommandFailure {
        let known = try await store.log.realms().map(\.name)
        return .missing(
            "realm", name, among: known, remedy: remedy ?? "`urd realm list` names them.")
    }
}

extension CommandFailure {
    /// There is nothing of this name; `known` are the names that there are.
    static func missing(
        _ noun: String, _ name: String, among known: [String], remedy: String? = nil
    ) -> CommandFailure {
        CommandFailure(
            "There is no \(noun) '\(name)'." + NearestName.question(for: name, among: known),
            remedy: remedy)
    }
}
