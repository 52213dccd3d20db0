import API
import JSON

/// The operations of the admin API by the words that call them. One that has no words here is a
/// defect, which a test finds.
enum RouteCommands {
    static let words: [String: String] = [
        "createRealm": "realm create", "listRealms": "realm list", "getRealm": "realm show",
        "getRealmSettings": "realm settings", "setRealmSettings": "realm set",
        "disableRealm": "realm disable", "enableRealm": "realm enable",
        "assignHost": "host assign", "releaseHost": "host release", "listHosts": "host list",
        "createApp": "app create", "listApps": "app list", "getApp": "app show",
        "updateApp": "app update", "deleteApp": "app delete",
        "registerClient": "client register", "listClients": "client list",
        "getClient": "client show", "updateClient": "client update",
        "changeClient": "client change",
        "rotateClientSecret": "client rotate-secret", "disableClient": "client disable",
        "enableClient": "client enable", "deleteClient": "client delete",
        "registerAccount": "account register", "listAccounts": "account list",
        "getAccount": "account show", "changeAccount": "account change",
        "disableAccount": "account disable", "enableAccount": "account enable",
        "logOutAccount": "account log-out", "getAccountRoles": "account roles",
        "setAccountRoles": "account set-roles",
        "resetTwoFactor": "account reset-two-factor", "deleteAccount": "account delete",
        "cancelAccountDeletion": "account cancel-deletion", "eraseAccount": "account erase",
        "listSessions": "account sessions", "endSession": "account end-session",
        "listLoginHistory": "history list", "listLoginHistoryOfAccount": "history user",
        "listLoginHistoryOfClient": "history client", "listMails": "mail list",
        "resendMail": "mail resend", "createAdminKey": "admin key create",
        "listAdminKeys": "admin key list",
        "getAdminKey": "admin key show", "revokeAdminKey": "admin key revoke",
        "createInvites": "invite create", "listInvites": "invite list",
        "revokeInvite": "invite revoke",
        "createRegistrationToken": "registration-token create",
        "listRegistrationTokens": "registration-token list",
        "revokeRegistrationToken": "registration-token revoke",
        "listAuditTrail": "audit list", "eraseSubject": "subject erase",
        "appointOwner": "owner appoint", "getOwner": "owner show",
        "vouchForOwner": "owner vouch",
        "setIntegrityKeys": "integrity-keys set",
        "listProviders": "provider list", "configureProvider": "provider set",
        "removeProvider": "provider remove", "linkIdentity": "provider link",
        "unlinkIdentity": "provider unlink", "createDelegatedCode": "provider code",
        "delegateCode": "provider delegate",
        "registerWebApp": "web-app register", "listWebApps": "web-app list",
        "getWebApp": "web-app show", "updateWebApp": "web-app update",
        "removeWebApp": "web-app remove", "listDevices": "device list",
        "listDeviceHistory": "device history",
        "revokeDeviceCertification": "device revoke-certification",
        "listPushProviders": "push-provider show",
        "setFirebaseProvider": "push-provider set fcm",
        "setAppleProvider": "push-provider set apns",
        "removeFirebaseProvider": "push-provider remove fcm",
        "removeAppleProvider": "push-provider remove apns",
        "listNotifications": "notification list", "resendNotification": "notification resend",
        "listSigningKeys": "signing-key list", "rotateSigningKey": "signing-key rotate",
    ]

    static let all: [any AnySubcommand] =
        API.operations.compactMap { operation in
            words[operation.id].map {
                RouteCommand(
                    words: $0.split(separator: " ").map(String.init), operation: operation)
            }
        } + narrowed

    /// An operation under other words, with something said already.
    private static let narrowed: [any AnySubcommand] = API.operations.compactMap { operation in
        guard operation.id == "listLoginHistory" else { return nil }
        return RouteCommand(
            words: ["history", "failures"], operation: operation,
            given: ["outcome": "refused"], summary: "List failed sign-ins, newest first")
    }
}
