internal import Identity
internal import JSON

extension GrantForm {
    static let otp = GrantForm([
        .optional(
            "username", .text(1...320), "Mail address or phone number that the code was sent to."),
        .optional("otp_code", .text(1...64), "Code that was sent."),
        .optional(
            "first_name", .text(1...100),
            "First name of the person who registers with the code."),
        .optional(
            "last_name", .text(1...100), "Last name of the person who registers with the code."),
        .totpCode,
    ]) { call throws(Problem) -> OTPGrant in
        guard let username = call.body["username"]?.string,
            let typed = call.body["otp_code"]?.string,
            let address = SignInAddress(typed: username, call.context.place.settings)
        else { throw GrantRefusal.invalidCode.problem }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address.text)
        let digits = typed.filter { $0 != " " }
        var grant = OTPGrant(
            mailbox: mailbox, shown: mint.shown { $0.digest(ofCode: digits, for: mailbox) },
            account: call.context.newID(), second: SecondFactors(call).inGrant)
        grant.sessionName = call.context.name(of: call)
        let (first, last) = (call.body["first_name"]?.string, call.body["last_name"]?.string)
        if first != nil || last != nil {
            guard let names = JoinerNames(firstName: first, lastName: last) else {
                throw Problem(.invalidRequest, "No account can have that name.")
            }
            grant.joiner = names
        }
        return grant
    }
}
