/// A surface of realms.
protocol RealmSurface: Surface<RealmContext> {
    /// Whether it is there for a request that came to this place; elsewhere there is nothing.
    func isServed(at place: Place) -> Bool
    /// What its clients may show at the token endpoint.
    var grants: [GrantForm] { get }
    /// The mails of what this surface alone has.
    var mails: [MailRule] { get }
}

extension RealmSurface {
    /// What the realm has is not at a web app's place, where its scripts could reach for it.
    func isServed(at place: Place) -> Bool { place.webApp == nil }

    var grants: [GrantForm] { [] }
    var mails: [MailRule] { [] }
}
