public import EventSourcing
public import JSON
public import Values

/// Lets a client replace what it said of itself (RFC 7592 section 2.2). What an administrator has
/// given it stays as it is; but its people are asked from now on where it leads them to places that
/// no administrator has reviewed.
public struct UpdateOwnClient: Command {
    public var id: UUID
    /// As the client sent it.
    public var metadata: JSONObject
    /// What its maker says of it, where one does: it goes before the client's own words.
    public var statement: SoftwareStatement?
    /// A new secret, if it comes to need one.
    public var secret: SecretDigest?
    /// What the document of its sector lists; nil where there is none to be had.
    public var sectorPlaces: [String]?

    public init(
        id: UUID, metadata: JSONObject, statement: SoftwareStatement? = nil,
        secret: SecretDigest? = nil, sectorPlaces: [String]? = nil
    ) {
        self.sectorPlaces = sectorPlaces
        self.id = id
        self.metadata = metadata
        self.statement = statement
        self.secret = secret
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// It came by a statement, and shows none.
        case statementNeeded
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> ClientAndApp {
        let client = try await streams.read(Client.self, id)
        return try await .read(id, app: client.state.metadata?.appID, from: streams)
    }

    public func decide(_ facts: ClientAndApp) throws(Rejection) -> Decision {
        guard let current = facts.client.aliveMetadata else { throw .notFound }
        if current.isVouchedFor, statement == nil { throw .statementNeeded }
        var members: JSONObject
        do {
            members = try OwnMetadata.read(
                SoftwareStatement.lay(statement, over: metadata),
                OwnMetadata.Allowance(facts.settings),
                keeping: current)
            try SectorRule.check(members, sectorPlaces)
        } catch {
            throw .invalid(error)
        }
        members["client_id"] = metadata["client_id"]
        let places = members["redirect_uris"]?.array?.compactMap(\.string) ?? []
        if !places.allSatisfy(current.redirectURIs.contains) {
            members["consent"] = .string(ConsentPolicy.needed.rawValue)
        }
        var command = UpdateClient(id: id, metadata: members, secret: secret)
        command.statement = statement?.text
        do {
            return try command.decide(facts)
        } catch {
            switch error {
            case .notFound: throw .notFound
            case .invalid(let fault): throw .invalid(fault)
            }
        }
    }
}
