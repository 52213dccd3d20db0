internal import Identity
internal import Values

/// Whose budget a token request uses that shows something authentic: nothing is read to find out, and
/// no stranger can use it up.
extension TokenMint {
    /// That of its session.
    func holder(ofRefreshToken text: String?) -> String? {
        text.flatMap(readRefreshToken).map { "session \($0.session)" }
    }

    /// Of this code alone: the holder of a used or expired code keeps no other person from using theirs.
    func holder(ofCode text: String?) -> String? {
        text.flatMap(readAuthorizationCode).map { "code \($0.id)" }
    }
}
