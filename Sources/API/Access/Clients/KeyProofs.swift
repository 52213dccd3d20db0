internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import Values

/// What is wrong with a proof of a key: the token endpoint and the routes behind a token say it in ways of
/// their own.
enum ProofFault: Error {
    case invalid(String)
    /// The nonce of this server is missing, or has expired.
    case nonce
}

/// What a proof has to be for.
struct ProvenCall {
    let method: String
    let address: String
}

extension RealmContext {
    /// A request to ourselves, under the name that the realm gives itself.
    func ownCall(_ request: Request) -> ProvenCall {
        ProvenCall(method: request.method.rawValue, address: place.issuer + request.path)
    }

    /// The proof that a request brings (RFC 9449 section 4.3), nil without one. The proof is not used up yet (replay).
    func keyProof(
        of request: Request, for call: ProvenCall, with token: String? = nil
    ) throws(ProofFault) -> UsedProof? {
        let lines = request.headers.all("DPoP")
        guard let text = lines.first else { return nil }
        guard lines.count == 1 else { throw .invalid("There is more than one DPoP header.") }
        let rules = KeyProof.Rules()
        let proof: KeyProof
        do throws(TokenRejection) {
            proof = try KeyProof.check(text, rules: rules, at: clock.now())
        } catch {
            throw .invalid("The DPoP proof is not valid.")
        }
        guard proof.method.utf8.elementsEqual(call.method.utf8) else {
            throw .invalid("The DPoP proof is for another method.")
        }
        guard isSame(proof.address, call.address) else {
            throw .invalid("The DPoP proof is for another address.")
        }
        if let token {
            guard proof.isFor(accessToken: token) else {
                throw .invalid("The DPoP proof is for another token.")
            }
        }
        if let nonce = proof.nonce {
            guard mint.isProofNonce(nonce, at: clock.now()) else { throw .nonce }
        } else if place.settings[SettingCatalogue.proofNonces] {
            throw .nonce
        }
        return UsedProof(key: proof.key, id: proof.id, until: rules.lastUse(of: proof))
    }

    /// In any spelling, and without the query (RFC 9449 section 4.3).
    private func isSame(_ address: String, _ other: String) -> Bool {
        guard let said = URLParts.parse(address), let own = URLParts.parse(other) else {
            return false
        }
        return said.scheme == own.scheme && said.host == own.host
            && said.effectivePort == own.effectivePort && !said.hasUserInfo
            && said.normalPath.utf8.elementsEqual(own.normalPath.utf8)
    }

    /// A token that is bound to a key is worth nothing without it, nor by the scheme of others.
    func requireProof(
        of token: PresentedToken, _ text: String, shownAs scheme: TokenScheme, _ request: Request,
        for call: ProvenCall
    ) async throws(Problem) {
        guard let key = token.key else {
            guard scheme == .bearer else { throw Problem(.unprovenToken) }
            return
        }
        guard scheme == .proven else { throw Problem(.unprovenToken) }
        let proof: UsedProof
        do throws(ProofFault) {
            guard let found = try keyProof(of: request, for: call, with: text) else {
                throw ProofFault.invalid("The DPoP proof is missing.")
            }
            proof = found
        } catch {
            switch error {
            case .invalid(let sentence): throw Problem(.proofRefused, sentence)
            case .nonce: throw withNonce(Problem(.proofNonceNeeded))
            }
        }
        guard proof.key.utf8.elementsEqual(key.utf8) else {
            throw Problem(.unprovenToken, "The access token is bound to another key.")
        }
        try await use(proof)
    }

    /// On every node it was used then.
    func use(_ proof: UsedProof) async throws(Problem) {
        let result = try await commands.attempt(
            UseProof(proof), in: place.realm, id: newID(),
            by: Origin(actor: "system", at: clock.now()))
        if case .failure = result {
            throw Problem(.proofRefused, "The DPoP proof was used before.")
        }
    }

    func withNonce(_ problem: Problem) -> Problem {
        var problem = problem
        problem.headers.append(("DPoP-Nonce", mint.proofNonce(at: clock.now())))
        return problem
    }

    /// The key that a token request proves to hold. The request's outcome uses the proof up.
    func tokenProof(of request: Request) throws(Problem) -> UsedProof? {
        do throws(ProofFault) {
            return try keyProof(of: request, for: ownCall(request))
        } catch {
            switch error {
            case .invalid(let sentence): throw Problem(.invalidProof, sentence)
            case .nonce: throw withNonce(Problem(.nonceNeeded))
            }
        }
    }
}

/// How an access token is shown in the header `Authorization`.
enum TokenScheme: String {
    case bearer
    /// With a proof beside it.
    case proven = "dpop"

    static func read(_ line: String) -> (scheme: TokenScheme, text: String)? {
        guard let line = AuthorizationLine(line), let scheme = TokenScheme(rawValue: line.scheme)
        else { return nil }
        return (scheme, line.text)
    }
}

extension TokenMint {
    private static let nonceSpan: Int64 = 300

    /// What a proof may be asked to have in it: good for five to ten minutes, on every node.
    func proofNonce(at now: Timestamp) -> String { proofNonce(span: now.seconds / Self.nonceSpan) }

    func isProofNonce(_ text: String, at now: Timestamp) -> Bool {
        let span = now.seconds / Self.nonceSpan
        return [span, span - 1].contains { span in
            version {
                constantTimeEqual(Array($0.proofNonce(span: span).utf8), Array(text.utf8))
            } != nil
        }
    }

    private func proofNonce(span: Int64) -> String {
        Base64URL.encode(Array(derive(.proofNonce, Array(String(span).utf8)).prefix(18)))
    }
}
