internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A service that asks for itself: by a JWT that its key has signed for the request, or by its secret (HTTP Basic).
struct ServiceAuthentication {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }

    init(_ call: Call<RealmContext>) { self.call = call }

    func service() async throws(Problem) -> FederationService {
        do throws(Problem) { return try await authenticated() } catch {
            if error.kind == .forbidden { try context.countSource() }
            throw error
        }
    }

    private func authenticated() async throws(Problem) -> FederationService {
        let notGood = Problem(.forbidden, "The service has not shown that it is the one.")
        let lines = call.request.headers.all("Authorization")
        guard let line = lines.first else { throw Problem(.unauthenticated) }
        guard lines.count == 1, let shown = AuthorizationLine(line) else { throw notGood }
        switch shown.scheme {
        case "basic":
            guard let credentials = try? ClientCredentials(call.request, body: .null),
                let clientID = credentials.clientID, case .basic(let secret) = credentials.proof,
                let service = try await FederationServices(context).find(clientID),
                let digest = service.client.secret,
                constantTimeEqual(SHA256.hash(Array(secret.utf8)), digest.bytes)
            else { throw notGood }
            return service
        case "bearer":
            let authorization = RequestAuthorization(call)
            guard let token = SharedKeyToken(shown.text), let clientID = token.keyID,
                token.text("iss") == clientID,
                let service = try await FederationServices(context).find(clientID),
                let key = try await context.sharedKey(of: service.client),
                token.isSigned(by: key.text), token.isFor(authorization.audiences),
                token.isTimely(at: context.clock.now(), within: RequestAuthorization.leeway),
                let sequence = authorization.sequence(of: token)
            else { throw notGood }
            try await authorization.advance(service.client.id, to: sequence)
            return service
        default: throw notGood
        }
    }
}
