internal import EventSourcing
internal import Identity

/// Codes and links that are sent some time after they were asked for.
enum SentProof {
    /// Whether what this event brings was ended by another one, or used.
    static func isOver(
        _ event: Recorded, in events: any EventLog
    ) async throws(LogFailure) -> Bool {
        if let issued = MailboxEvent(event) {
            let mailbox = Mailbox(folding: try await known(event, events))
            return switch issued {
            case .codeIssued(let code): !mailbox.holds(code)
            case .linkIssued(let link): !mailbox.holds(link)
            default: false
            }
        }
        if case .issued(let link)? = MailedLinkEvent(event) {
            return !MailedLink(folding: try await known(event, events)).holds(link.id)
        }
        if case .issued(let code)? = MailedCodeEvent(event) {
            return !MailedCode(folding: try await known(event, events)).holds(code.id)
        }
        return false
    }

    private static func known(
        _ event: Recorded, _ events: any EventLog
    ) async throws(LogFailure) -> [Recorded] {
        try await events.stream(event.stream, after: 0, in: event.realm)
    }
}
