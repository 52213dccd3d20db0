import API
import Identity
import Values

/// Takes a mail or a message to where it can be read.
protocol MailCarrier: Sendable {
    func carry(_ letter: Letter, as mail: UUID) async -> RecordDeliveries.Outcome
}
