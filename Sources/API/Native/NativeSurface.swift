/// Apps without a browser that sign people in themselves: codes, links, passkeys, second factors.
struct NativeSurface: RealmSurface {
    let routes =
        NativeRoutes.table + MagicLinkRoutes.table + MagicLoginRoutes.table + TOTPRoutes.table
        + InviteCodeRoutes.table + PasskeyRoutes.table + PasskeyListRoutes.table
        + OwnAccountRoutes.table

    let grants: [GrantForm] = [.otp, .magicLink, .passkey]
}
