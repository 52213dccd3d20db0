internal import Identity

extension GrantForm {
    static let passkey = GrantForm(
        PasskeyGrant.self,
        [
            .optional("ceremony_id", .text(1...64), "Id of the WebAuthn ceremony."),
            .optional(
                "assertion", .text(1...65_536), "Result of `navigator.credentials.get`, as JSON."),
        ]
    ) { call, request throws(Problem) in
        let remembered = try await PasskeyProofs(call).grant(mayRemember: true)
        let first = try await Commands(call).attempt(
            RedeemGrant(remembered, request), as: .client(request.clientID))
        switch first {
        case .success(let outcome): return outcome
        case .failure(.passkeyOutdated):
            return try await Commands(call).dispatch(
                RedeemGrant(try await PasskeyProofs(call).grant(), request),
                as: .client(request.clientID))
        case .failure(let refusal): throw refusal.problem
        }
    }
}
