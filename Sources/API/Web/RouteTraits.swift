/// What holds for a route beside its right, its form and its voice. A property that depends on which route
/// was found is one of these: nothing compares paths.
struct RouteTraits: OptionSet, Sendable {
    let rawValue: UInt16

    /// Scripts of pages elsewhere may read the answers: see `CrossOriginAccess`.
    static let forScripts = Self(rawValue: 1 << 0)
    /// Every request at a host gets the same answer, until something changes in its realm.
    static let sameForEveryone = Self(rawValue: 1 << 1)
    /// What is cached of a client is enough to begin with: what is done here checks it again.
    static let acceptsCachedClient = Self(rawValue: 1 << 2)
    /// What is appended here uses up the client's assertion as well, so that a failure in between costs no
    /// client its assertion.
    static let consumesAssertion = Self(rawValue: 1 << 3)
    /// The access token may stand in the form (RFC 6750 section 2.2).
    static let takesTokenInForm = Self(rawValue: 1 << 4)
    /// A sign-in begins here without a client's credentials, so that a client that forwards addresses must
    /// send one.
    static let needsForwardedAddress = Self(rawValue: 1 << 5)
    /// The answer may set cookies, although the clients of its voice have no browser.
    static let setsCookies = Self(rawValue: 1 << 6)
    /// It is there at the hosts of web apps too, where nothing else of the realm is.
    static let servedAtWebApps = Self(rawValue: 1 << 7)
    /// A sign-in may lead back to it: see `ReturnTarget`.
    static let isReturnTarget = Self(rawValue: 1 << 8)
    /// The first page of a host: hosts that open with another page lead on to that.
    static let isFirstPage = Self(rawValue: 1 << 9)

    /// Scripts of a tenant's pages may read the answers, with cookies: see `CrossOriginAccess`.
    static let forTenantScripts = Self(rawValue: 1 << 10)

    /// What routes of one path must agree on.
    static let ofPath: Self = [.forScripts, .forTenantScripts, .setsCookies, .isFirstPage]
}
