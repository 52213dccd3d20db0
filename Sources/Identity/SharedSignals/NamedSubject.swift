public import Values

/// A subject that a receiver names, as far as it can ever match an account (SSF 1.0 section 8.1.3.1). No
/// address is kept: a mail address is known by its mailbox.
public enum NamedSubject: Hashable, Sendable {
    /// An account by the `sub` that the receiver knows it by.
    case sub(String)
    case mailbox(UUID)

    public var key: String {
        switch self {
        case .sub(let sub): "sub:\(sub)"
        case .mailbox(let id): "mailbox:\(id)"
        }
    }

    public init?(key: String) {
        if key.hasPrefix("sub:") {
            self = .sub(String(key.dropFirst(4)))
        } else if key.hasPrefix("mailbox:"), let id = UUID(String(key.dropFirst(8))) {
            self = .mailbox(id)
        } else {
            return nil
        }
    }
}
