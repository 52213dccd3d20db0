/// Laws of accounts, and of what they hold.
extension Law {
    static func ofAccounts() -> [Law] {
        [
            Law(
                4,
                "A mailbox has one holder at a time, and is released by that one before another holds it.",
                held(4, "a mailbox", taken: "mailbox.assigned", released: "mailbox.released")),
            Law(
                7,
                """
                A mailed proof dies with what ends it: with another mailbox, log-out everywhere, \
                disabling, a deletion or another passphrase.
                """,
                [
                    Check(endsProofs) { past, event in
                        past.changeAccount(event) { $0.generation += 1 }
                    }
                ]),
            Law(
                12,
                """
                What was opened before a sign-out everywhere, disabling, deletion or removal of \
                access, or rests on a mailbox that was left, is neither opened nor refreshed after it.
                """,
                [
                    Check(endsAll) { past, event in
                        past.changeAccount(event) { $0.stamp += 1 }
                    },
                    Check("account.mailbox_moved") { past, event in
                        past.changeAccount(event) { $0.moves += 1 }
                    },
                    Check("account.access_removed", look: removeAccess),
                ]),
            Law(
                28,
                """
                A deletion that is due and not called off is carried out within a day, nothing \
                happens to an account after its deletion but its erasure.
                """,
                [
                    Check("account.erased", look: erase),
                    Check(
                        "account.disabled", "account.enabled", "account.deletion_scheduled",
                        "account.deletion_cancelled", "account.deleted", look: live),
                ]),
            Law(
                35, "An upstream identity is linked to one account at a time.",
                held(
                    35, "an upstream identity", taken: "identity.linked",
                    released: "identity.unlinked")),
        ]
    }

    private static var endsAll: [StaticString] {
        [
            "account.mailbox_changed", "account.disabled", "account.stamp_rotated",
            "account.deletion_scheduled", "account.deleted",
        ]
    }

    private static var endsProofs: [StaticString] {
        endsAll + ["account.mailbox_moved", "account.addresses_changed", "account.proofs_ended"]
    }

    private static func removeAccess(_ past: inout Past, _ event: Event) {
        let number = event.data.integer("removals") ?? 0
        let before = past.accounts[event.stream]?.removals ?? 0
        if number != before + 1 {
            past.missing(12, "removal of access \(number) follows \(before)")
        }
        past.changeAccount(event) {
            $0.removals = number
            if let place = Place(event.data) { $0.removed[place] = number }
        }
    }

    private static func erase(_ past: inout Past, _ event: Event) {
        if past.accounts[event.stream]?.isDeleted != true {
            past.missing(28, "an account is erased that was not deleted")
        }
        past.changeAccount(event) { $0.isErased = true }
    }

    private static func live(_ past: inout Past, _ event: Event) {
        let known = past.accounts[event.stream]
        if known?.isDeleted == true {
            past.broken(28, "\(event.type) of an account that is deleted")
        }
        if event.is("account.deletion_cancelled"), known?.due == nil {
            past.missing(28, "a deletion is cancelled that was not scheduled")
        }
        past.changeAccount(event) { account in
            if event.is("account.disabled") {
                account.isDisabled = true
            } else if event.is("account.enabled") {
                account.isDisabled = false
            } else if event.is("account.deletion_scheduled") {
                account.due = event.data.integer("due")
            } else {
                account.due = nil
                if event.is("account.deleted") {
                    account.isDeleted = true
                    account.removed = [:]
                }
            }
        }
    }
}

extension Past {
    /// What law 28 says of deletions that were to be carried out by the time of the last event.
    mutating func judgeDeletions() {
        guard isDisabled != true else { return }
        let last = second
        for (id, account) in accounts.all.sorted(by: { $0.key < $1.key }) {
            guard let due = account.due, due + 86_400 < last else { continue }
            broken(28, "account \(id) was to be deleted \(last - due) s ago")
        }
    }
}
