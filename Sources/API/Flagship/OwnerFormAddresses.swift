/// The addresses of forms of the flagship profile: see `FormAddress`. What was mailed is not in them: where a
/// form stands on the page of a mailed link, it begins anew.
enum OwnerFormAddresses {
    static let table: [Route<RealmContext>] = [
        FormAddress.leading(from: "/account/devices/remove", to: "/account/sessions"),
        FormAddress.leading(from: "/auth/hint", to: "/auth/passphrase_reset"),
        FormAddress.leading(from: "/auth/magic_link/twofactor", to: "/auth/login"),
        FormAddress.leading(from: "/auth/onboarding/resend", to: "/auth/passphrase"),
    ]
}
