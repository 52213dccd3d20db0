internal import Identity
internal import Values

/// The digits of a code as they are mailed, and mailed again: those whose digest was kept when the
/// code was asked for. Nil where the key that they follow from is retired: the code could not be
/// used any more.
extension TokenMint {
    func digits(of code: IssuedMailedCode) -> String? {
        // A typed code is digested for the holder of the purpose, not for the stream of the event.
        let stream = MailedCode.stream(of: code.installation ?? code.account, code.purpose)
        return version { $0.digest(ofMailedCode: $0.code(code.id), in: stream) == code.digest }?
            .code(code.id)
    }

    func digits(of code: IssuedCode, for mailbox: UUID) -> String? {
        version { mint in
            let digits = mint.code(code.root)
            return switch code.purpose {
            case .signIn, .registration, .pinReset:
                mint.digest(ofCode: digits, for: mailbox) == code.digest
            case .move:
                code.account.flatMap { mint.digest(ofMove: digits, of: $0, to: mailbox) }
                    == code.digest
            }
        }?.code(code.root)
    }

    /// A code that moves an account to a mailbox is good for that account alone, and for nothing else.
    func digest(ofMove code: String, of account: UUID, to mailbox: UUID) -> SecretDigest? {
        SecretDigest(
            derive(.mailboxMoveDigest, account.bytes + mailbox.bytes + Array(code.utf8)))
    }
}
