internal import Identity
internal import JSON
internal import Mail

extension GrantForm {
    static let otp = GrantForm([
        .optional("username", .text(1...320), "Whose code it is: a mail address."),
        .optional("otp_code", .text(1...64), "The code that was mailed."),
        .totpCode,
    ]) { call throws(Problem) -> OTPGrant in
        guard let username = call.body["username"]?.string,
            let typed = call.body["otp_code"]?.string, let address = try? MailAddress(username)
        else { throw GrantRefusal.invalidCode.problem }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address.text)
        guard let digest = mint.digest(ofCode: typed.filter { $0 != " " }, for: mailbox) else {
            throw Problem(.internalError)
        }
        return OTPGrant(
            mailbox: mailbox, digest: digest, account: call.newID(), second: call.secondFactor)
    }
}
