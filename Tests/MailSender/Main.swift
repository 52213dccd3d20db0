import HTTPClient
import JSON
import Mail
import Values

/// Sends the mails that its standard input describes, one JSON object a line, to a mail server of a
/// test on this machine, and says of each how it went.
///
///     MailSender <port>
@main struct Main {
    static func main() async {
        guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]),
            let client = try? SMTPClient(
                SMTPServer(host: "127.0.0.1", port: port, security: .none))
        else {
            print("usage: MailSender <port>")
            return
        }
        var number = 0
        while let line = readLine() {
            number += 1
            do {
                let order = try JSON.parse(Array(line.utf8))
                let mail = try message(order, number)
                try await client.send(
                    from: mail.from.address.text, to: mail.to.address.text, message: mail.bytes)
                print("sent")
            } catch {
                print("failed: \(String(reflecting: error))")
            }
        }
    }

    private struct Nonsense: Error {}

    private static func message(_ order: JSON, _ number: Int) throws -> MailMessage {
        guard let id = MessageID("\(number)@urd.example"),
            let language = MailLanguage(tag: order["language"]?.string ?? "en")
        else { throw Nonsense() }
        let branding = Branding(
            productName: order["product"]?.string ?? "Urd",
            accent: Colour(order["accent"]?.string ?? "") ?? .ink,
            logo: order["logo"]?.string.flatMap { MailLink($0) },
            footer: order["footer"]?.string ?? "")
        var message = MailMessage(
            from: Mailbox(
                try MailAddress(order["from"]?.string ?? "urd@example.org"),
                name: order["fromName"]?.string ?? branding.productName),
            to: Mailbox(
                try MailAddress(order["to"]?.string ?? "anna@example.org"),
                name: order["name"]?.string ?? ""),
            subject: order["subject"]?.string ?? "", text: order["text"]?.string ?? "",
            html: order["html"]?.string ?? "", language: language,
            date: Timestamp(seconds: order["date"]?.integer ?? 1_790_000_000), id: id)
        if let kind = try kind(order) {
            let content = MailTemplates(branding: branding).content(
                of: kind, in: language, displayName: order["name"]?.string)
            message.subject = content.subject
            message.text = content.text
            message.html = content.html
        }
        return message
    }

    private static func kind(_ order: JSON) throws -> MailKind? {
        guard let text = order["kind"]?.string else { return nil }
        let moment = Timestamp(seconds: 1_790_000_000)
        let device = order["device"]?.string ?? "Phone"
        guard let name = MailKind.Name(rawValue: text),
            let link = MailLink(order["url"]?.string ?? "https://login.example.org/")
        else { throw Nonsense() }
        return switch name {
        case .emailOtp: .emailOtp(code: order["code"]?.string ?? "000000", minutes: 10)
        case .secondFactorCode:
            .secondFactorCode(code: order["code"]?.string ?? "000000", minutes: 15)
        case .certificationCode:
            .certificationCode(code: order["code"]?.string ?? "000000", minutes: 15)
        case .magicLink: .magicLink(link, minutes: 15)
        case .emailVerification: .emailVerification(link, minutes: 60)
        case .emailChangeCode:
            .emailChangeCode(code: order["code"]?.string ?? "000000", minutes: 10)
        case .pinResetCode:
            .pinResetCode(code: order["code"]?.string ?? "000000", minutes: 5)
        case .passphraseReset: .passphraseReset(link, minutes: 15)
        case .ownerInvitation: .ownerInvitation(link)
        case .passphraseHint: .passphraseHint(order["hint"]?.string ?? "otters")
        case .providerConnected: .providerConnected(name: device, at: moment)
        case .passkeyEnrolled: .passkeyEnrolled(device: device, at: moment)
        case .passkeyRemoved: .passkeyRemoved(device: device, at: moment)
        case .totpEnrolled: .totpEnrolled(at: moment)
        case .totpRemoved: .totpRemoved(at: moment)
        case .passphraseSet: .passphraseSet(at: moment)
        case .pinSet: .pinSet(at: moment)
        case .passphraseRemoved: .passphraseRemoved(at: moment)
        case .passphraseGuessed: .passphraseGuessed(at: moment)
        case .totpGuessed: .totpGuessed(at: moment)
        case .deviceAdded: .deviceAdded(device: device, at: moment)
        case .deviceCertified: .deviceCertified(device: device, at: moment)
        case .addressChanged: .addressChanged(at: moment)
        case .addressesChanged: .addressesChanged(at: moment)
        case .signedOutEverywhere: .signedOutEverywhere(at: moment)
        case .accountDisabled: .accountDisabled(at: moment)
        case .accountDeletion: .accountDeletion(at: moment)
        case .accountDeletionAsked: .accountDeletionAsked(link, at: moment)
        case .notification:
            .notification(title: "News", message: "Some.", sender: device)
        case .subscriberFails: .subscriberFails(name: device, since: moment)
        case .subscriberStopped: .subscriberStopped(name: device, at: moment)
        }
    }
}
