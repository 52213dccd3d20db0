public import EventSourcing
public import HTTP
public import Identity

/// Makes what the routes of a realm stand on, for each request anew.
public struct RealmContexts: Sendable {
    /// The tokens of a realm, which need its keys.
    public typealias Mints = @Sendable (RealmID) async throws(LogFailure) -> TokenMint

    let places: Places
    let mint: Mints
    let shared: RealmContext.Shared

    public init(
        places: Places, mint: @escaping Mints, keys: TokenKeys, commands: any CommandPort,
        queries: any RealmQueries, clock: RealmContext.Clock,
        fetchKeys: @escaping RemoteKeys.Fetch = { _ in nil },
        fetchLogo: @escaping RemoteKeys.Fetch = { _ in nil },
        callProviders: UpstreamCalls = .none, passphrases: PassphraseWork = .none
    ) {
        self.places = places
        self.mint = mint
        shared = RealmContext.Shared(
            keys: keys, clients: KnownClients(queries, revision: keys.revision),
            remoteKeys: RemoteKeys(passed: clock.passed, fetch: fetchKeys),
            upstream: Upstream(calls: callProviders, passed: clock.passed),
            logos: ClientLogos(passed: clock.passed, fetch: fetchLogo), commands: commands,
            queries: queries, clock: clock, passphrases: passphrases)
    }

    /// Routes that every realm has, and the answers that are ready at its hosts.
    public func table(_ routes: [Route<RealmContext>]) -> Router.Table {
        Router.Table(routes) { request, route throws(Problem) in
            try await context(of: request, at: route)
        } shelf: {
            shelf(of: $0)
        }
    }

    /// The same where the realm has this profile; elsewhere there is nothing.
    public func context(
        of request: Request, at route: Outline, profile: RealmProfile
    ) async throws(Problem) -> RealmContext {
        let context = try await context(of: request, at: route)
        guard context.place.settings[SettingCatalogue.profile] == profile else {
            throw Problem(.noSuchRoute)
        }
        return context
    }

    /// At the place of a web app; elsewhere there is nothing.
    public func context(ofWebApp request: Request) async throws(Problem) -> RealmContext {
        let context = try await context(at: try await places.place(of: request))
        guard context.place.webApp != nil else { throw Problem(.noSuchRoute) }
        return context
    }

    /// The first page of a web app's place has a name of its own, and somebody who reads comes to the own
    /// account: everybody else's is the welcome.
    public func led(_ request: Request) async -> Request {
        guard let place = try? await places.place(of: request),
            let first = place.webApp != nil
                ? WebAppPlace.indexPath : request.isOfSomebodyWhoReads ? place.home : nil
        else { return request }
        var request = request
        request.path = first
        return request
    }

    /// Whatever else the realm has is not at a web app's place, where its scripts could reach for it:
    /// nothing is, but what pages are drawn with.
    public func context(
        of request: Request, at route: Outline
    ) async throws(Problem) -> RealmContext {
        let place = try await places.place(of: request)
        guard place.webApp == nil || route.traits.contains(.servedAtWebApps) else {
            throw Problem(.noSuchRoute)
        }
        let context = try await context(at: place)
        guard let address = try await context.forwardedAddress(of: request, at: route.traits) else {
            return context
        }
        var forwarded = place
        forwarded.address = address
        return try await self.context(at: forwarded)
    }

    /// The answers that are ready at a host. Nil where the request has to go its whole way, and so where a
    /// server says whom it asks for: that has to be looked at.
    private func shelf(of request: Request) -> Shelf? {
        guard let ground = places.knownGround(of: request), ground.webApp == nil,
            request.headers[RealmContext.forwardedHeader] == nil
        else { return nil }
        return ground.shelf
    }

    private func context(at place: Place) async throws(Problem) -> RealmContext {
        let mint = try await reading { () throws(LogFailure) -> TokenMint in
            try await self.mint(place.realm)
        }
        return RealmContext(place: place, mint: mint, shared: shared)
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
