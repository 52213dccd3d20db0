import Identity
import Values

// A secret that the log can have kept under one key alone.

extension OTPGrant {
    init(mailbox: UUID, digest: SecretDigest, account: UUID, second: TypedFactor? = nil) {
        self.init(
            mailbox: mailbox, shown: ShownSecret([digest]), account: account, second: second)
    }
}

extension MagicLinkGrant {
    init(account: UUID, digest: SecretDigest, second: TypedFactor? = nil) {
        self.init(account: account, shown: ShownSecret([digest]), second: second)
    }
}

extension TypedMailedCode {
    init(id: UUID, digest: SecretDigest) {
        self.init(id: id, shown: ShownSecret([digest]))
    }
}

extension MoveMailbox {
    init(
        account: UUID, addresses: Addresses, digest: SecretDigest, person: Person,
        next: NextSubjects, mail: UUID? = nil, now: Timestamp
    ) {
        self.init(
            account: account, addresses: addresses, shown: ShownSecret([digest]), person: person,
            next: next, mail: mail, now: now)
    }
}

extension ConfirmOwnerMove {
    init(
        to mailbox: UUID, code: UUID, digest: SecretDigest, person: Person, nextSubject: UUID,
        mail: UUID, now: Timestamp
    ) {
        self.init(
            to: mailbox, code: code, shown: ShownSecret([digest]), person: person,
            nextSubject: nextSubject, mail: mail, now: now)
    }
}
