internal import HTTP
internal import JSON
internal import Values

/// The mail address that a code went to, as it stands in the address of the page on which the code is
/// typed: sealed, and good in the browser alone that asked for the code. So the page can be opened again,
/// by a reload or after a phone dropped it, and nothing is mailed once more. Other pages are handed what
/// somebody typed in the same way: nobody else makes such an address, and no log has what is in it.
struct CodeAddress {
    /// The pages on which one is typed, and those that go on with an address.
    enum Page: String {
        case login = "/login/code"
        case newAddress = "/account/email/confirm"
        case forgotten = "/passphrase/forgotten"
        /// After an account moved to it.
        case moved = "/login"
    }

    let email: String
    var page = Page.login
    /// Where somebody joins, another code is asked for elsewhere.
    var canResend = true

    static let parameter = Parameter(
        "to", in: .query, .text(0...2048), "A mail address, sealed.")

    /// Seconds that somebody has to look into his mail.
    fileprivate static let patience: Int64 = 3600
}

extension Call<RealmContext> {
    /// The page on which a code is typed.
    func place(
        of address: CodeAddress, _ visit: Visit, _ onward: Onward
    ) throws(Problem) -> String {
        let until = context.clock.now().adding(seconds: CodeAddress.patience)
        let members: JSONObject = [
            "email": .string(address.email), "resend": .bool(address.canResend),
            "page": .string(address.page.rawValue),
            "form": .string(visit.formName), "until": .integer(until.seconds),
        ]
        guard let sealed = context.mint.seal(.object(members), for: .codeAddress) else {
            throw Problem(.internalError)
        }
        return onward.link(address.page.rawValue, [("to", sealed)])
    }

    /// Nil for what was not sealed here, elsewhere than in its browser, and when it is too late.
    func codeAddress(_ visit: Visit, at page: CodeAddress.Page = .login) -> CodeAddress? {
        guard let text = text("to"),
            let members = context.mint.unseal(text, for: .codeAddress)?.object,
            let email = members["email"]?.string, let canResend = members["resend"]?.bool,
            members["page"]?.string == page.rawValue,
            members["form"]?.string == visit.formName, let until = members["until"]?.integer,
            context.clock.now().seconds < until
        else { return nil }
        return CodeAddress(email: email, page: page, canResend: canResend)
    }
}
