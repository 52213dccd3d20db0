internal import Identity
internal import JSON

extension GrantForm {
    static let authorizationCode = GrantForm(
        AuthorizationCodeGrant.self,
        [
            .optional("code", .text(1...16384), "Authorization code from the redirect."),
            .optional(
                "redirect_uri", .text(1...2048), "Redirect URI of the authorization request."),
            .optional("code_verifier", .text(1...256), "PKCE code verifier (RFC 7636)."),
            .optional(
                "verifier", .text(1...256), "PKCE code verifier of clients of the profile `voo`."),
        ], hesitates: false
    ) { call, request throws(Problem) in
        var request = request
        let (grant, fault) = try read(call)
        // A verifier that can't be one does not hide that the code was redeemed before.
        if fault != nil { request.isFaulty = true }
        do throws(Problem) {
            return try await Commands(call).dispatch(
                RedeemGrant(grant, request), as: .client(request.clientID))
        } catch {
            guard let fault, error.kind != .unavailable else { throw error }
            throw fault
        }
    }.held { $0.context.mint.holder(ofCode: $0.body["code"]?.string) }

    private static func read(
        _ call: Call<RealmContext>
    ) throws(Problem) -> (AuthorizationCodeGrant, fault: Problem?) {
        guard let text = call.body["code"]?.string else {
            throw Problem(.invalidRequest, "code is required.")
        }
        let client = try call.caller.client
        guard let code = call.context.mint.readAuthorizationCode(text) else {
            throw GrantRefusal.unknownAuthorizationCode.problem
        }
        var fault: Problem?
        var verifier = call.body["code_verifier"]?.string
        if client.metadata.rules.looseChallenges, let other = call.body["verifier"]?.string {
            if let verifier, verifier != other {
                fault = Problem(.invalidRequest, "There are two verifiers.")
            }
            verifier = other
        }
        if !client.metadata.rules.looseChallenges, let verifier, !isVerifier(verifier) {
            fault = GrantRefusal.invalidAuthorizationCode("wrong_verifier").problem
        }
        let grant = AuthorizationCodeGrant(
            code: code,
            consent: client.metadata.asksForConsent
                ? call.context.mint.consent(of: code.account, to: client.id) : nil,
            redirect: call.body["redirect_uri"]?.string.flatMap { SecretDigest.of($0) },
            verifier: verifier.flatMap { SecretDigest.of($0) })
        return (grant, fault)
    }

    /// RFC 7636 section 4.1: what is shorter can be guessed.
    private static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F, 0x7E].contains($0)
            }
    }
}
