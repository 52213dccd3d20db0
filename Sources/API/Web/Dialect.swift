/// How a route speaks: what it bears in a request beside what is described, and in which words it
/// refuses one. Clients that others wrote decide it, not we.
public enum Dialect: Sendable, CaseIterable {
    /// Urd's own: whatever isn't described is refused; refusals are problems (RFC 9457).
    case plain
    /// OAuth 2: what isn't described is ignored, what is empty is not there, and refusals are
    /// `error` with `error_description` (RFC 6749 section 5.2).
    case oauth
    /// Native apps: members are matched without case, what isn't described is ignored, and a
    /// problem's title is a code for programs.
    case native
    /// Apps of the flagship profile: what isn't described is ignored, and a refusal is one text, which
    /// such apps compare letter by letter.
    case flagship
    /// People: forms are read as OAuth reads them, and refusals are pages.
    case page
}
