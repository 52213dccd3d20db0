internal import Identity

/// What an administrator can do about people's second factors.
enum TwoFactorRoutes {
    static let table: [Route<AdminContext>] = [reset]

    private static let reset = AccountRoutes.simple(
        "reset-two-factor", id: "resetTwoFactor",
        commandLine: .urd(
            "account reset-two-factor", examples: "urd account reset-two-factor ann@example.org"),
        "Remove an account's authenticator app and its recovery codes.",
        detail: "For a person who has lost both. They are told by mail."
    ) { ResetTwoFactor(account: $0, mail: $1) }
}
