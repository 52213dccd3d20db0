import API
import EventSourcing
import Identity
import Values

/// Takes mails to the mail server and messages to the gateways of their realms.
struct ChannelCarrier: MailCarrier {
    /// Nil where the settings name no mail server: mails wait for one.
    let mails: (any MailCarrier)?
    let messages: MessageCourier
    /// Of a development run, for the realms that have no gateway.
    let inbox: Inbox?

    init(_ options: Service.Options, _ log: any EventLog) {
        let outgoing = options.outgoing
        mails = options.mailCarrier
        messages = MessageCourier(events: log) { call in await outgoing?.push(call) ?? .forbidden }
        inbox = options.inbox
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDeliveries.Outcome? {
        guard letter.channel != .mail else { return await mails?.carry(letter, as: mail) }
        guard let gateways = try? await messages.gateways(of: letter.realm) else {
            return .refusedForNow(code: 0, .notTried)
        }
        if let inbox, gateways.byChannel.isEmpty { return await inbox.carry(letter, as: mail) }
        return await messages.carry(letter, as: mail, by: gateways)
    }
}
