public import EventSourcing
public import HTTP
internal import Identity

/// Makes what the routes of a realm stand on, for each request anew.
public struct RealmContexts: Sendable {
    /// The tokens of a realm, which need its keys.
    public typealias Mints = @Sendable (RealmID) async throws(LogFailure) -> TokenMint

    let places: Places
    let mint: Mints
    let shared: RealmContext.Shared
    /// Set by what composes the surfaces: the protocol that seals requests stands above the pages.
    var applicationRequests: any ApplicationRequests = NoApplicationRequests()

    public init(
        places: Places, mint: @escaping Mints, keys: TokenKeys, commands: any CommandPort,
        queries: any RealmQueries, clock: RealmContext.Clock,
        fetchKeys: @escaping RemoteKeys.Fetch = { _ in nil },
        callProviders: UpstreamCalls = .none, passphrases: PassphraseWork = .none,
        limits: RateLimits = RateLimits(), locate: @escaping RealmContext.Locate = { _ in nil }
    ) {
        self.places = places
        self.mint = mint
        shared = RealmContext.Shared(
            keys: keys, clients: KnownClients(queries, revision: keys.revision),
            remoteKeys: RemoteKeys(passed: clock.passed, fetch: fetchKeys),
            upstream: Upstream(calls: callProviders, passed: clock.passed), commands: commands,
            queries: queries, clock: clock, passphrases: passphrases, limits: limits,
            locate: locate)
    }

    /// The routes of a surface, where it is served.
    func table(of surface: any RealmSurface) -> Router.Table {
        table(surface.routes + surface.pages, isServed: { surface.isServed(at: $0) })
    }

    func table(
        _ routes: [Route<RealmContext>], isServed: @escaping @Sendable (Place) -> Bool
    ) -> Router.Table {
        Router.Table(routes) { request, route throws(Problem) in
            try await context(of: request, at: route, isServed: isServed)
        } responseCache: {
            responseCache(of: $0)
        }
    }

    /// The first page of a web app's place has a name of its own, and a browser comes to the account of its
    /// person: all else that asks gets the welcome. At a host that leads nowhere the page of the account says
    /// so.
    public func led(_ request: Request) async -> Request {
        guard let first = await firstPage(of: request) else { return request }
        var request = request
        request.path = first
        return request
    }

    private func firstPage(of request: Request) async -> String? {
        guard let place = try? await places.place(of: request) else {
            return request.isOfSomebodyWhoReads ? Place.accountPath : nil
        }
        if place.webApp != nil { return WebAppPlace.indexPath }
        return request.isOfSomebodyWhoReads ? place.home : nil
    }

    private func context(
        of request: Request, at route: Outline, isServed: (Place) -> Bool
    ) async throws(Problem) -> RealmContext {
        let place = try await places.place(of: request)
        let isAsset = route.traits.contains(.servedAtWebApps)
        guard isServed(place) || isAsset && place.webApp != nil else {
            throw Problem(.noSuchRoute)
        }
        let context = try await context(at: place)
        // A web app's own page begins no sign-in.
        if place.webApp != nil, !isAsset { return context }
        guard let address = try await context.forwardedAddress(of: request, at: route.traits) else {
            return context
        }
        var forwarded = place
        forwarded.address = address
        return try await self.context(at: forwarded)
    }

    /// The answers that are ready at a host. Nil where the request has to go its whole way, and so where a
    /// server says whom it asks for: that has to be looked at.
    private func responseCache(of request: Request) -> ResponseCache? {
        guard let ground = places.knownGround(of: request), ground.webApp == nil,
            request.headers[RealmContext.forwardedHeader] == nil
        else { return nil }
        return ground.responseCache
    }

    private func context(at place: Place) async throws(Problem) -> RealmContext {
        let mint = try await reading { () throws(LogFailure) -> TokenMint in
            try await self.mint(place.realm)
        }
        return RealmContext(
            place: place, mint: mint, shared: shared, applicationRequests: applicationRequests)
    }
}

extension Place {
    /// What every route may refuse that has to find its realm first.
    static let refusals: [ProblemKind] = [
        .unknownHost, .realmClosed, .malformedHost, .malformedForwarding, .forwarderNotTrusted,
        .forwardedAddressRequired, .busy, .contended,
        .unavailable, .logDamaged,
    ]
}
