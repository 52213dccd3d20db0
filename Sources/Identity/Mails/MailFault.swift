/// Why a mail or a message did not get through, as far as an operator can act on it. It contains no personal
/// data.
public enum MailFault: String, Sendable, CaseIterable {
    /// The mail server's name has no address.
    case hostNotFound = "host_not_found"
    case notConnected = "not_connected"
    case timedOut = "timed_out"
    /// No TLS with the server that was meant.
    case tlsFailed = "tls_failed"
    case loginRefused = "login_refused"
    /// The server said no to the sender, the recipient or the message.
    case refused
    /// The server hung up, or is not ready for mail.
    case brokenOff = "broken_off"
    /// What is written to, or from, is no address for mail.
    case unusableAddress = "unusable_address"
    /// The recipient is gone, or there is nothing to say.
    case pointless
    case tooLate = "too_late"
    /// No gateway of the realm carries such messages.
    case noGateway = "no_gateway"
    /// A gateway was asked to take the message, and it is unknown whether it did.
    case unsettled
    /// This process had no room for it, or was about to end.
    case notTried = "not_tried"
}
