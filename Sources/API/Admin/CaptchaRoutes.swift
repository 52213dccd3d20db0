internal import HTTP
internal import Identity
internal import JSON

/// What tells people from programs: all but the secret are settings of the realm.
enum CaptchaRoutes {
    static let table: [Route<AdminContext>] = [
        Route<AdminContext>(
            .put, "/api/admin/realms/{realm}/captcha-secret", id: "setCaptchaSecret",
            commandLine: .urd(
                "realm captcha-secret",
                examples: "urd realm captcha-secret demo --secret \"$(cat token)\""),
            tag: "Realms", summary: "Set the secret of the realm's captcha.",
            detail: """
                It is sealed and never shown again. The settings `captcha` and `captcha_site_key` \
                switch the captcha on.
                """,
            right: .realm, parameters: [.realm, .idempotencyKey],
            body: Body(
                schema: .named(
                    "NewCaptchaSecret",
                    .object(
                        .required(
                            "secret", .text(1...1_000),
                            "Secret of the realm at the captcha service."))),
                example: ["secret": "0x4AAAAAAA"]),
            answer: .gone("The captcha settings are stored."),
            refusals: [.noSuchRealm, .realmDisabled]
        ) { call throws(Problem) in
            let done = try await call.run(
                CaptchaChange.setSecret(call.body["secret"]?.string ?? ""),
                as: call.write(in: try call.realm))
            return Response(status: .noContent).at(done)
        }
    ]
}

extension CaptchaChange.SetSecretRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
