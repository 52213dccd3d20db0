import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let places = ["https://one.example/back", "https://two.example/back"]
private let pairwise: JSONObject = [
    "redirect_uris": .array(places.map { .string($0) }), "subject_type": "pairwise",
    "token_endpoint_auth_method": "none", "sector_identifier_uri": "https://sector.example/uris",
]

@Suite struct `The sector of a client that registers itself` {
    private let open = givenRealm().given(
        RealmEvent.settingsChanged(["client_registration": "open"]), in: Realm.stream)

    private func register(
        _ listed: [String]?, _ metadata: JSONObject = pairwise
    ) -> RegisterOwnClient {
        RegisterOwnClient(
            id: client, clientID: "web", metadata: metadata, sectorPlaces: listed, now: noon)
    }

    private func update(_ listed: [String]?) -> UpdateOwnClient {
        var metadata = pairwise
        metadata["client_id"] = "web"
        return UpdateOwnClient(id: client, metadata: metadata, sectorPlaces: listed)
    }

    @Test func `a sector identifier document must list all redirect URIs`() async throws {
        try await open.when(register(places + ["https://three.example/"]))
            .then(
                try registered(
                    pairwise.merging(["resources_listed_only": true]) { $1 }, secret: nil),
                in: client, taking: [Claim("client_id", "web")])
    }

    @Test func `a sector identifier document that is missing or incomplete is refused`()
        async throws
    {
        let name = "sector_identifier_uri"
        try await open.when(register(nil))
            .thenRejected(.refused(.invalid(FieldFault(name, .notFound))))
        for listed in [[], [places[0]], ["https://one.example/back/", places[1]]] {
            try await open.when(register(listed)).thenRejected(
                .refused(.invalid(FieldFault(name, .missesPlaces(of: "redirect_uris")))))
        }
        let made = open.given(try registered(pairwise, secret: nil), in: client)
        try await made.when(update(nil)).thenRejected(.invalid(FieldFault(name, .notFound)))
        try await made.when(update([places[0]])).thenRejected(
            .invalid(FieldFault(name, .missesPlaces(of: "redirect_uris"))))
        try await made.when(update(places)).thenNothing()
    }

    @Test func `a sector identifier is needed for redirect URIs at several hosts`() async throws {
        var metadata = pairwise
        metadata["sector_identifier_uri"] = nil
        try await open.when(register(nil, metadata)).thenRejected(
            .refused(
                .invalid(FieldFault("sector_identifier_uri", .needed(by: "subject_type")))))
    }
}
