internal import Identity
internal import ReadModels

/// Where the surface's clients ask.
enum FederationPaths {
    static let base = "/eduid"
    /// Where the reference server has the surface, and clients that were made for it look for ours.
    static let otherBase = "/eduid/eduid.php"

    /// What every route of the surface may refuse.
    static let refusals: [ProblemKind] =
        Place.refusals + [.unauthenticated, .forbidden, .invalidRequest, .rateLimited]
}

extension Place {
    /// The token endpoint for devices and people and the surface as a whole, under both names: the audience of what
    /// a device signs is any of them.
    var federationAddresses: Set<String> {
        let bases = [FederationPaths.base, FederationPaths.otherBase].map { ground.issuer + $0 }
        return Set(bases + bases.map { $0 + "/token" })
    }

    /// The token endpoint of a service: the audience of assertions for it.
    func endpoint(of service: FederationService) -> String {
        service.client.metadata.federationEndpoint
            ?? "\(ground.issuer)\(FederationPaths.base)/services/\(service.clientID)/token"
    }
}
