internal import HTTP
internal import Identity

/// Addresses that take a form alone. A browser still shows one where the form was answered with what was
/// wrong, so whoever opens it, by a reload or after a telephone dropped the page, is led to the page that the
/// form stands on.
enum FormAddresses {
    static let table: [Route<RealmContext>] =
        ["/login/passkey", "/login/second", StepUpRoutes.path, "/oidc/twofactor"].map(toLogin)
        + ["sessions/end", "sessions/end-all", "apps/end"].map { toAccount($0, .sessions) }
        + [
            "passkeys/add", "passkeys/rename", "passkeys/remove", "passphrase",
            "passphrase/remove", "authenticator/begin", "authenticator/change",
            "providers/connect", "providers/disconnect",
        ].map { toAccount($0, .security) }
        + [
            toAccount("email", .data),
            leading(from: TOTPPageRoutes.path + "/confirm", to: TOTPPageRoutes.path),
        ]

    /// Those of the flagship profile. What was mailed is not in their addresses: where a form stands on the
    /// page of a mailed link, it begins anew.
    static let flagshipTable: [Route<RealmContext>] = [
        toAccount("devices/remove", .sessions),
        leading(from: "/auth/hint", to: "/auth/passphrase_reset"),
        leading(from: "/auth/magic_link/twofactor", to: "/auth/login"),
        leading(from: "/auth/onboarding/resend", to: "/auth/passphrase"),
    ]

    /// With what the application asked for.
    private static func toLogin(_ path: String) -> Route<RealmContext> {
        route(path, Onward.parameters) { call in Onward(call).link("/login") }
    }

    private static func toAccount(
        _ path: String, _ tab: AccountFrame.Tab
    ) -> Route<RealmContext> {
        leading(from: "/account/\(path)", to: tab.rawValue)
    }

    private static func leading(from path: String, to page: String) -> Route<RealmContext> {
        route(path, []) { _ in page }
    }

    private static func route(
        _ path: String, _ parameters: [Parameter],
        to page: @escaping @Sendable (Call<RealmContext>) -> String
    ) -> Route<RealmContext> {
        Route<RealmContext>(
            .get, PathTemplate(stringLiteral: path), id: "open \(path)", tag: "Pages",
            summary: "Leads to the page of the form.", right: .nothing, voice: .page,
            parameters: parameters, answer: .page, refusals: Place.refusals
        ) { call throws(Problem) in .seeOther(page(call)) }
    }
}
