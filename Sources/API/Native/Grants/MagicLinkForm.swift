internal import Identity
internal import JSON
internal import Values

extension GrantForm {
    static let magicLink = GrantForm([
        .optional("user_id", .text(1...64), "Whose link it is: the `userId` in it."),
        .optional("magic_token", .text(1...128), "The `token` in the link that was mailed."),
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
