internal import CCurl

/// Hands mails to one mail server.
///
/// Each mail has a connection of its own: a kept one that the server has closed would make a mail
/// fail whose message was sent, with no way to tell whether the server accepted it.
public final class SMTPClient: Sendable {
    public let server: SMTPServer
    private let workers: Workers

    /// - Parameters:
    ///   - threads: as many mails are under way at once.
    ///   - maximumWaiting: as many wait for a thread; further ones are refused.
    public init(
        _ server: SMTPServer, threads: Int = 2, maximumWaiting: Int = 256
    ) throws(SMTPFailure) {
        if let fault = server.fault { throw SMTPFailure(.permanent, .invalid, fault) }
        guard (1...256).contains(threads), maximumWaiting > 0 else {
            throw SMTPFailure(.permanent, .invalid, "threads must be 1 to 256")
        }
        guard let workers = Workers(threads: threads, limit: maximumWaiting) else {
            throw SMTPFailure(.temporary, .library, "no threads, or no libcurl")
        }
        self.server = server
        self.workers = workers
    }

    /// Mails that wait are refused; those under way come to their end.
    public func close() {
        workers.close()
    }

    public var queueLength: Int { workers.queueLength }

    /// Returns once the server has accepted the mail. Without a sender, a later failure is not
    /// reported.
    public func send(
        from sender: String, to recipient: String, message: [UInt8]
    ) async throws(SMTPFailure) {
        guard sender.isEmpty || Envelope.isAddress(sender), Envelope.isAddress(recipient) else {
            throw SMTPFailure(.permanent, .invalid, "an address of the envelope")
        }
        if let fault = Envelope.fault(of: message) {
            throw SMTPFailure(.permanent, .invalid, fault)
        }
        let server = server
        let deadline = ContinuousClock.now + server.timeout
        try await workers.run(refused: SMTPFailure.refused) {
            (handle, cancellation) -> Result<Void, SMTPFailure> in
            let left = deadline - ContinuousClock.now
            guard left > .zero else {
                return .failure(SMTPFailure(.temporary, .timeout, "no thread was free in time"))
            }
            let transfer = Transfer(
                upload: message, bodyLimit: 64 * 1024, destinations: server.destinations,
                deadline: deadline, cancellation: cancellation)
            handle.prepare(server, timeout: left)
            handle.set(CURLOPT_MAIL_FROM, sender)
            handle.set(CURLOPT_MAIL_RCPT, list: [recipient])
            handle.set(CURLOPT_INFILESIZE_LARGE, size: message.count)
            let outcome = handle.perform(transfer)
            return outcome.code == CURLE_OK
                ? .success(()) : .failure(SMTPFailure(outcome, transfer))
        }.get()
    }
}

extension Handle {
    fileprivate func prepare(_ server: SMTPServer, timeout: Duration) {
        prepareConnection(
            connectTimeout: server.connectTimeout, timeout: timeout, caFile: server.caFile,
            proxy: nil)
        set(CURLOPT_URL, server.url)
        set(CURLOPT_PROTOCOLS_STR, server.security == .tls ? "smtps" : "smtp")
        set(
            CURLOPT_USE_SSL,
            Int(server.security == .none ? CURLUSESSL_NONE.rawValue : CURLUSESSL_ALL.rawValue))
        set(CURLOPT_FRESH_CONNECT, true)
        set(CURLOPT_FORBID_REUSE, true)
        set(CURLOPT_UPLOAD, true)
        if let user = server.user {
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, secret: server.password)
        }
    }
}

/// What may stand in a conversation with a mail server. A line that one server reads as one and the
/// next as two carries mails that no server checked ("SMTP smuggling").
enum Envelope {
    /// Printable ASCII, at most 254 bytes, one `@` with something on both sides, and nothing that
    /// means something in a path (RFC 5321 section 4.1.2).
    static func isAddress(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= 254,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && !#"<>()[],;:"\"#.utf8.contains($0) }),
            let sign = bytes.firstIndex(of: UInt8(ascii: "@"))
        else { return false }
        return sign > 0 && sign < bytes.count - 1 && bytes.lastIndex(of: bytes[sign]) == sign
    }

    static let maximumMessageBytes = 16 * 1024 * 1024

    /// ASCII in lines of at most 998 bytes, each ended by CR and LF, which stand nowhere else.
    static func fault(of message: [UInt8]) -> String? {
        guard !message.isEmpty, message.count <= maximumMessageBytes else {
            return "an empty message, or a huge one"
        }
        var length = 0
        var previous: UInt8 = 0
        for byte in message {
            switch byte {
            case 0x0A:
                guard previous == 0x0D else { return "a bare LF" }
                length = 0
            case 0, 0x80...: return "a byte that is not ASCII text"
            default:
                guard previous != 0x0D else { return "a bare CR" }
                if byte != 0x0D { length += 1 }
                guard length <= 998 else { return "a long line" }
            }
            previous = byte
        }
        return previous == 0x0A && length == 0 ? nil : "no end of the last line"
    }
}
