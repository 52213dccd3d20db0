internal import Cryptography
internal import EventSourcing
public import HTTP
internal import Identity
internal import Values

extension RealmContext {
    /// What a request did whose caller was told 503 meanwhile, the same one is not made to do again.
    public func answer(
        _ call: Call<RealmContext>, by handler: Route<RealmContext>.Handler
    ) async throws(Problem) -> Response {
        guard let scope = RequestScope.current else { return try await handler(call) }
        let name: ReplayableResponses.Name = { self.fingerprint(of: call) }
        return try await shared.replayableResponses.answer(name, in: scope) { () throws(Problem) in
            try await handler(call)
        }
    }

    /// What stands for a request that its client has given a name (`Idempotency-Key`), at every node: the same for
    /// the same request once more, and for no other. Nil without a name, or with one that could be guessed.
    func name(of call: Call<RealmContext>) -> UUID? {
        guard let key = call.request.headers["Idempotency-Key"],
            Self.lengthOfNames.contains(key.utf8.count), let fingerprint = fingerprint(of: call)
        else { return nil }
        return .v8(SHA256.hash(framed(["urd named request", key], [fingerprint])))
    }

    /// 22 digits of base 64 have 128 bits.
    static let lengthOfNames = 22...255

    /// A digest that two requests have in common if the second one is the first one sent again. How a
    /// client shows that it is itself does not count, for an assertion or a proof is another one each
    /// time: the client counts, and the key.
    private func fingerprint(of call: Call<RealmContext>) -> [UInt8]? {
        let request = call.request
        var parts = [
            place.issuer, request.method.rawValue, request.path, request.query ?? "",
        ]
        var body = request.body
        if case .client(let client) = call.caller {
            parts.append("client \(client.id)")
            if let pairs = Form.parse(body) {
                let secrets = ["client_secret", "client_assertion", "client_assertion_type"]
                body = Array(Form.encode(pairs.filter { !secrets.contains($0.name) }).utf8)
            }
            if request.headers["DPoP"] != nil {
                guard let proof = try? tokenProof(of: request) else { return nil }
                parts.append("key \(proof.key)")
            }
        } else {
            parts += request.headers.all("Authorization")
        }
        parts += request.headers.all("Cookie")
        return SHA256.hash(framed(parts, [body]))
    }
}
