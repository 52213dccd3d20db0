internal import Identity
internal import OneTimeCodes
internal import Values

/// An invite is written down and typed as a recovery code is.
typealias InviteCode = RecoveryCode

extension TokenMint {
    /// The codes that follow from the id of the command that makes them: a repeat makes the same.
    func inviteCodes(_ count: Int, of command: UUID) -> [InviteCode] {
        (0..<count).map { index in
            let bytes = derive(.inviteCode, command.bytes + Array(String(index).utf8))
            return InviteCode(bits: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    /// The stream of an invite, from its code.
    func invite(_ code: InviteCode) -> UUID { .v8(derive(.invite, Array(code.plain.utf8))) }
}
