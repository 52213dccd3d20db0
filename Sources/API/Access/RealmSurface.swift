/// A surface of realms.
protocol RealmSurface: Surface<RealmContext> {
    /// Whether it is there for a request that came to this place; elsewhere there is nothing.
    func isServed(at place: Place) -> Bool
}

extension RealmSurface {
    /// What the realm has is not at a web app's place, where its scripts could reach for it.
    func isServed(at place: Place) -> Bool { place.webApp == nil }
}
