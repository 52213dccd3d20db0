import API
import HTTPClient
import Identity
import JSON
import Telemetry
import Values

import struct Mail.MailAddress
import enum Mail.MailLanguage
import struct Mail.MailMessage
import struct Mail.Mailbox
import struct Mail.MessageID

/// Hands mails to the mail server of the settings.
struct SMTPCarrier: MailCarrier {
    let client: SMTPClient
    /// For realms that have no sender of their own.
    let sender: MailAddress
    let lines: Log

    /// Nil where the settings name no mail server.
    init?(_ settings: Settings, _ lines: Log) throws {
        guard let host = settings[Settings.smtpHost] else { return nil }
        let security: SMTPServer.Security =
            switch settings[Settings.smtpSecurity] {
            case "tls": .tls
            case "none": .none
            default: .startTLS
            }
        let server = SMTPServer(
            host: host, port: settings[Settings.smtpPort], security: security,
            user: settings[Settings.smtpUser],
            password: Array((settings[Settings.smtpPassword] ?? "").utf8),
            caFile: settings[Settings.smtpAuthorities],
            helloName: settings[Settings.smtpHello])
        do {
            client = try SMTPClient(server, threads: 8)
        } catch {
            throw CommandFailure(
                "the mail server cannot be used: \(error.debugDescription)",
                remedy: "See the smtp-… settings (urd config print).")
        }
        sender = settings[Settings.mailSender]
        self.lines = lines
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDeliveries.Outcome {
        guard let message = message(letter, mail) else {
            return .refusedForGood(code: 0, .unusableAddress)
        }
        do {
            try await client.send(
                from: message.from.address.text, to: message.to.address.text,
                message: message.bytes)
            return .taken()
        } catch {
            let (code, reason) = (error.code ?? 0, MailFault(error.reason))
            // Neither whom it was for nor the server's words, which may say so.
            lines.warning(
                "mail.not_taken",
                [
                    "mail": .string(mail.description), "kind": .string(error.kind.rawValue),
                    "reason": .string(reason.rawValue), "code": .integer(Int64(code)),
                ])
            return error.isPermanent
                ? .refusedForGood(code: code, reason) : .refusedForNow(code: code, reason)
        }
    }

    private func message(_ letter: Letter, _ mail: UUID) -> MailMessage? {
        guard let to = try? MailAddress(letter.to),
            let from = letter.from == nil ? sender : try? MailAddress(letter.from ?? ""),
            let id = MessageID("\(mail)@\(from.domain)")
        else { return nil }
        return MailMessage(
            from: Mailbox(from, name: letter.fromName), to: Mailbox(to), subject: letter.subject,
            text: letter.text, html: letter.html, language: MailLanguage(tag: letter.language),
            date: Log.systemTime(), id: id)
    }
}

extension MailFault {
    init(_ reason: SMTPFailure.Reason) {
        self =
            switch reason {
            case .refused: .refused
            case .loginRefused: .loginRefused
            case .unknownHost: .hostNotFound
            case .unreachable: .notConnected
            case .timeout: .timedOut
            case .untrusted: .tlsFailed
            case .broken: .brokenOff
            case .invalid: .unusableAddress
            case .busy, .closed, .cancelled, .library: .notTried
            }
    }
}
