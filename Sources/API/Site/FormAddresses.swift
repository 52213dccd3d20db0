internal import HTTP

/// The addresses of forms of the site: see `FormAddress`.
enum FormAddresses {
    static let table: [Route<RealmContext>] =
        ["/login/passkey", "/login/second", StepUpRoutes.path, "/oidc/twofactor"].map(toLogin)
        + ["sessions/end", "sessions/end-all", "apps/end", "devices/sign-out", "methods/remove"].map
    {
        toAccount($0, .sessions)
    }
        + [
            "passkeys/add", "passkeys/rename", "passkeys/remove", "passphrase",
            "passphrase/remove", "authenticator/begin", "authenticator/change",
            "providers/connect", "providers/disconnect",
        ].map { toAccount($0, .security) }
        + [
            toAccount("email", .data), toAccount("phone", .data), toAccount("phone/remove", .data),
            FormAddress.leading(from: TOTPPageRoutes.path + "/confirm", to: TOTPPageRoutes.path),
        ]

    /// With what the application asked for.
    private static func toLogin(_ path: String) -> Route<RealmContext> {
        FormAddress.route(path, ReturnTarget.parameters) { call in ReturnTarget(call).link("/login")
        }
    }

    private static func toAccount(
        _ path: String, _ tab: AccountFrame.Tab
    ) -> Route<RealmContext> {
        FormAddress.leading(from: "/account/\(path)", to: tab.rawValue)
    }
}
