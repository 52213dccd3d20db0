internal import Identity
internal import ReadModels

/// Where the surface's clients ask.
enum FederationPaths {
    static let base = "/eduid"
    static let token = "/eduid/token"

    /// What every route of the surface may refuse.
    static let refusals: [ProblemKind] =
        Place.refusals + [.unauthenticated, .forbidden, .invalidRequest, .rateLimited]
}

extension Place {
    /// The token endpoint for devices and people: the audience of what a device signs.
    var federationEndpoint: String { ground.issuer + FederationPaths.token }

    /// The token endpoint of a service: the audience of assertions for it.
    func endpoint(of service: FederationService) -> String {
        service.client.metadata.federationEndpoint
            ?? "\(ground.issuer)\(FederationPaths.base)/services/\(service.clientID)/token"
    }
}
