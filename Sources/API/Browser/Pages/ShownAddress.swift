internal import Mail

extension Parts {
    /// A mail address for people to read. Letters of its domain are shown as themselves where no rule has it
    /// that they look like others; all else stands as it is kept.
    static func address(_ kept: String) -> String {
        (try? MailAddress(kept))?.shown ?? kept
    }
}
