internal import Identity
internal import JSON

extension GrantForm {
    static let authorizationCode = GrantForm(
        [
            .optional("code", .text(1...16384), "The code that the browser brought."),
            .optional("redirect_uri", .text(1...2048), "Where it was brought to."),
            .optional("code_verifier", .text(1...256), "What `code_challenge` is the digest of."),
            .optional(
                "verifier", .text(1...256), "The same, from clients of the profile `voo`."),
        ], hesitates: false
    ) { call throws(Problem) -> AuthorizationCodeGrant in
        guard let text = call.body["code"]?.string else {
            throw Problem(.invalidRequest, "code is required.")
        }
        let client = try call.caller.client
        guard let code = call.context.mint.readAuthorizationCode(text) else {
            throw GrantRefusal.unknownAuthorizationCode.problem
        }
        var verifier = call.body["code_verifier"]?.string
        if client.metadata.rules.looseChallenges, let other = call.body["verifier"]?.string {
            guard verifier == nil || verifier == other else {
                throw Problem(.invalidRequest, "There are two verifiers.")
            }
            verifier = other
        }
        if !client.metadata.rules.looseChallenges, let verifier, !isVerifier(verifier) {
            throw GrantRefusal.invalidAuthorizationCode("wrong_verifier").problem
        }
        return AuthorizationCodeGrant(
            code: code,
            consent: client.metadata.asksForConsent
                ? call.context.mint.consent(of: code.account, to: client.id) : nil,
            redirect: call.body["redirect_uri"]?.string.flatMap { SecretDigest.of($0) },
            verifier: verifier.flatMap { SecretDigest.of($0) })
    }.held { $0.context.mint.holder(ofCode: $0.body["code"]?.string) }

    /// RFC 7636 section 4.1: what is shorter can be guessed.
    private static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F, 0x7E].contains($0)
            }
    }
}
