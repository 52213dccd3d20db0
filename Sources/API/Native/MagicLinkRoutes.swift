internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// Mails a user a magic link that signs them in.
enum MagicLinkRoutes {
    static let table: [Route<RealmContext>] = [request]

    private static let request = Route<RealmContext>(
        .post, "/api/account/magic-link/request", id: "requestMagicLink", tag: "Native sign-in",
        summary: "Mails a sign-in link.",
        detail: """
            The answer is the same whether there is an account or not. What the link carries is \
            redeemed at the token endpoint.
            """,
        right: .nothing, voice: .native,
        body: Body(
            schema: .object(
                .optional("Email", .text(0...320), "Mail address.", example: "a@example.org"),
                .optional(
                    "ReturnUrl", .text(0...2048),
                    "Path to which the link leads on; other URLs are ignored.",
                    example: "/basket")),
            example: ["Email": "a@example.org"]),
        answer: NativeRoutes.uniform(mailed), refusals: Place.refusals + [.rateLimited],
        traits: .needsForwardedAddress
    ) { call throws(Problem) in
        async let pause: Void = call.context.hesitate()
        let address = call.given("Email").flatMap { try? MailAddress($0).text }
        let mailbox = address.map(call.context.mint.mailbox)
        try RateCounter(call).count(.magicLink, target: mailbox?.description)
        if let mailbox, let address { try await call.issueLink(for: mailbox, address) }
        await pause
        return .native(.ok, ["Message": .string(mailed)])
    }

    private static let mailed = "If your email is registered, you will receive a login link."
}

extension Call<RealmContext> {
    fileprivate func issueLink(for mailbox: UUID, _ address: String) async throws(Problem) {
        let link = context.newID()
        guard let digest = context.mint.digest(ofMagicToken: context.mint.magicToken(link)) else {
            throw Problem(.internalError)
        }
        _ = try await Commands(self).dispatch(
            RequestMagicLink(
                app: context.place.app, mailbox: mailbox,
                person: Person(email: address, language: PageRequest(self).readersLanguage),
                link: link, digest: digest, base: context.place.links,
                returnPath: given("ReturnUrl").flatMap { ReturnPath($0) }, mail: context.newID(),
                now: context.clock.now()), as: .anonymous)
    }
}
