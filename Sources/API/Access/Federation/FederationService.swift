internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What a service is to the app.
extension FederationService {
    /// What the app knows it by: the first of its addresses.
    var address: String? { client.metadata.redirectURIs.first }

    /// The attributes of people that the service gets.
    var attributes: Set<FederationAttribute> {
        let chosen = client.metadata.federationAttributes.compactMap(FederationAttribute.init)
        return Set(chosen.isEmpty ? FederationAttribute.usual : chosen)
    }

    /// Whether an address is one of its own: where it is, or where its tokens come from.
    func isAt(_ address: String, in place: Place) -> Bool {
        let bare = Self.bare(address)
        return client.metadata.redirectURIs.contains { Self.bare($0) == bare }
            || Self.bare(place.endpoint(of: self)) == bare
    }

    /// A slash at the end says nothing.
    static func bare(_ address: String) -> Substring {
        var text = Substring(address)
        while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
        return text
    }
}

/// The services of a realm.
struct FederationServices {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    func find(_ clientID: String) async throws(Problem) -> FederationService? {
        let found = try await RealmLookups(context).client(named: clientID)
        guard let found, !found.isDisabled, found.metadata.rules.isFederationService else {
            return nil
        }
        return FederationService(client: found, clientID: clientID)
    }

    func find(
        at address: String, among known: KnownServices
    ) async throws(Problem) -> FederationService? {
        let place = context.place
        guard let found = try await all(known).first(where: { $0.isAt(address, in: place) }) else {
            return nil
        }
        // The list may be a moment old.
        return try await find(found.clientID)
    }

    /// As this process knows them, which may be a moment old.
    func all(_ known: KnownServices) async throws(Problem) -> [FederationService] {
        try await reading { () throws(LogFailure) in try await known.all(in: context.place.realm) }
    }
}
