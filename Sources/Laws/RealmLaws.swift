/// Laws of realms and their hosts.
extension Law {
    static func ofRealms() -> [Law] {
        [
            Law(
                3,
                """
                Nothing happens in a realm that is disabled but what ends or erases something, \
                and what an administrator does to the realm.
                """,
                [
                    Check("realm.disabled", "realm.enabled") { past, event in
                        past.isDisabled = event.is("realm.disabled")
                    },
                    Check("realm.settings_changed") { past, event in
                        guard let changes = event.data.object("changes"),
                            changes.has("otp_attempts")
                        else { return }
                        past.otpAttempts = changes.integer("otp_attempts") ?? 0
                    },
                    Check(refusedByDisabledRealms) { past, event in
                        guard let isDisabled = past.isDisabled else { return past.unknown(3) }
                        if isDisabled {
                            past.broken(3, "\(event.type) in a realm that is disabled")
                        }
                    },
                ]),
            Law(
                34, "A host belongs to one realm at a time.",
                held(34, "a host", taken: "host.assigned", released: "host.released", by: "realm")),
        ]
    }

    private static var refusedByDisabledRealms: [StaticString] {
        [
            "session.opened", "session.refreshed", "browser.opened", "account.registered",
            "account.enabled", "otp.issued", "otp.redeemed", "otp.confirmed", "link.issued",
            "link.redeemed", "mailed_code.issued", "mailed_code.redeemed", "mailed_link.issued",
            "mailed_link.used", "passkey.enrolled", "passkey.used", "passphrase.set",
            "passphrase.derived", "totp.confirmed", "totp.used", "recovery_code.used",
            "consent.given", "device.requested", "device.approved", "device.redeemed",
            "invite.created", "invite.used", "client.registered", "client.certified",
            "client.updated", "session_code.issued", "session_code.used",
            "delegated_code.issued", "identity.linked", "signing_key.published",
            "subscription.created", "app.created", "notification.requested",
            "federated_assertion.issued",
        ]
    }
}
