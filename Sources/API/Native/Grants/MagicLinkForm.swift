internal import Identity
internal import JSON
internal import Values

extension GrantForm {
    static let magicLink = GrantForm([
        .optional("user_id", .text(1...64), "Account id: the `userId` in the link."),
        .optional("magic_token", .text(1...128), "Token in the mailed link."),
        .totpCode,
    ]) { call throws(Problem) -> MagicLinkGrant in
        guard let account = call.body["user_id"]?.string.flatMap({ UUID($0) }),
            let token = call.body["magic_token"]?.string,
            let shown = call.context.mint.shown(magicToken: token)
        else { throw GrantRefusal.invalidLink.problem }
        var grant = MagicLinkGrant(
            account: account, shown: shown, second: SecondFactors(call).inGrant)
        grant.sessionName = call.context.name(of: call)
        return grant
    }
}
