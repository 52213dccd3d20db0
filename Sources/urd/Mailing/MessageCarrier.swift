import API
import EventSourcing
import Identity
import Values

/// Takes messages to the gateways of their realms.
struct MessageCarrier: MailCarrier {
    private let courier: MessageCourier
    /// Of a development run, for the realms that have no gateway.
    private let inbox: Inbox?

    init(_ options: ServeOptions, _ log: any EventLog) {
        let outgoing = options.outgoing
        courier = MessageCourier(events: log) { call in await outgoing?.push(call) ?? .forbidden }
        inbox = options.inbox
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDeliveries.Outcome {
        guard let gateways = try? await courier.gateways(of: letter.realm) else {
            return .refusedForNow(code: 0, .notTried)
        }
        if let inbox, gateways.byChannel.isEmpty { return await inbox.carry(letter, as: mail) }
        return await courier.carry(letter, as: mail, by: gateways)
    }
}
