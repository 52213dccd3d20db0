/// Why a session ended before its time.
public enum SessionEnd: String, CaseIterable, Sendable {
    /// Its client or its person asked for it.
    case revoked
    /// A refresh token came that had been used before.
    case reuse
    /// The code came once more that had opened it.
    case codeReuse = "code_reuse"
    case administrator
    /// Its person logged out.
    case loggedOut = "logged_out"
    /// Its person wanted the client to have access no more: of servers before that was an event of the account.
    case withdrawn
    /// It was over already, by what happened to its account.
    case lapsed
    /// Its device showed itself anew, and has another one.
    case replaced
}
