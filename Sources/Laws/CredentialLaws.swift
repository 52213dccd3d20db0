import Values

/// Laws of passkeys, passphrases, second factors and what proves a device.
extension Law {
    static func ofCredentials() -> [Law] {
        [
            Law(
                15,
                """
                A passkey is enrolled before it is used, and never used after it was removed or \
                while its account is closed.
                """,
                possessed(
                    15, "passkey", given: ["passkey.enrolled"], used: "passkey.used",
                    removed: "passkey.removed", renewed: "passkey.renamed")),
            Law(
                17,
                """
                A second factor is used only between its confirmation and its removal, with a \
                later step each time; a recovery code once.
                """, secondFactors()),
            Law(
                19,
                """
                A passphrase is set before it is used, and never used after it was removed or \
                while its account is closed.
                """,
                possessed(
                    19, "passphrase", given: ["passphrase.set", "passphrase.derived"],
                    used: "passphrase.used", removed: "passphrase.removed",
                    renewed: "passphrase.hint_changed")),
            Law(
                20, "A consent is given before it is withdrawn, and withdrawn once.",
                present(20, "consent", begins: "consent.given", ends: "consent.withdrawn")),
            Law(
                22, "A device's assertion has a greater number than the one before.",
                deviceKeys()),
            Law(
                41,
                """
                A PIN or a key of a tenant's app is spoken of only between its making and its \
                removal.
                """,
                present(
                    41, "PIN", begins: "app_method.pin_set", ends: "app_method.pin_removed",
                    others: ["app_method.pin_used"])
                    + present(
                        41, "device's key", begins: "app_method.key_enrolled",
                        ends: "app_method.key_removed", named: "key")),
        ]
    }

    private static func deviceKeys() -> [Check] {
        let counters = Memory<Int64>()
        return [
            Check("app_key.attested") { _, event in
                counters.begin(0, event.stream, at: event.second)
            },
            Check("app_key.used") { past, event in
                guard let before = counters[event.stream] else {
                    return past.missing(22, "a device's key is used that was never attested")
                }
                let counter = event.data.integer("counter") ?? 0
                if counter <= before {
                    past.broken(22, "a device's assertion has number \(counter) after \(before)")
                }
                counters[event.stream] = counter
            },
        ]
    }

    private static func secondFactors() -> [Check] {
        let factors = Memory<Factor>()
        return [
            Check("totp.offered", "totp.removed") { _, event in
                if event.is("totp.removed") { factors[event.stream] = nil }
            },
            Check("totp.confirmed") { _, event in
                factors.begin(Factor(event.data), event.stream, at: event.second)
            },
            Check("recovery_codes.renewed") { _, event in
                factors[event.stream]?.codes = event.data.texts("recovery_codes")
            },
            Check("totp.used", "recovery_code.used") { past, event in
                guard let factor = factors[event.stream] else {
                    return past.missing(17, "\(event.type): there is no second factor")
                }
                if event.is("totp.used") {
                    if let account = past.accounts[factor.account] {
                        past.judge(account, for: 17, "a second factor that is used")
                    }
                    useStep(&past, event, factors)
                } else {
                    useRecoveryCode(&past, event, factors)
                }
            },
        ]
    }

    private static func useStep(_ past: inout Past, _ event: Event, _ factors: Memory<Factor>) {
        let step = event.data.integer("step") ?? 0
        if let before = factors[event.stream]?.step, step <= before {
            past.broken(17, "a code of step \(step) is used after one of step \(before)")
        }
        factors[event.stream]?.step = step
    }

    private static func useRecoveryCode(
        _ past: inout Past, _ event: Event, _ factors: Memory<Factor>
    ) {
        let digest = event.data.text("digest") ?? ""
        guard let index = factors[event.stream]?.codes.firstIndex(of: digest) else {
            return past.broken(17, "a recovery code is used that is none, or was used before")
        }
        factors[event.stream]?.codes.remove(at: index)
    }
}

private struct Factor {
    let account: UUID?
    var step: Int64
    /// Digests of the recovery codes that were not used.
    var codes: [String]

    init(_ data: Members) {
        account = data.identifier("account")
        step = data.integer("step") ?? 0
        codes = data.texts("recovery_codes")
    }
}
