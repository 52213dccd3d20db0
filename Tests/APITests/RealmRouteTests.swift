import Testing

@testable import API

@Suite struct `Every route of a realm` {
    /// The host leads to a realm, or to none, before anything of the route is looked at.
    @Test func `a route of a realm names what looking for its realm may refuse`() {
        let routes = API.realmTable + API.flagshipTable
        #expect(!routes.isEmpty)
        for route in routes {
            let missing = Set(Place.refusals).subtracting(route.refusals)
            #expect(missing.isEmpty, "\(route.id) leaves out \(missing)")
        }
    }
}
