internal import Identity
internal import Values

/// A browser that a user is signed in with.
struct SignedInBrowser: Sendable, Equatable {
    let id: UUID
    let subject: UUID
    let authenticatedAt: Timestamp
    /// The method of the sign-in.
    let way: BrowserMethod
    /// What was shown, in the words of RFC 8176.
    let methods: [String]
    /// The authentication level (acr) of that sign-in.
    let level: String?
    /// How often the account has removed access: what is agreed to now is held against that.
    let removals: Int
}
