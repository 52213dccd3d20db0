internal import CCurl

/// Why a mail was not taken, and whether it is worth another try.
///
/// `description` is bland; the server's own words, which may quote addresses, are in
/// `debugDescription`.
public struct SMTPFailure: Error, Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        /// The same mail may be taken later.
        case temporary
        /// This mail will never be taken by this server.
        case permanent
    }

    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The server said no to the sender, the recipient or the message.
        case refused
        /// The server did not take user and password, or wants some. It is never the mail's fault,
        /// hence temporary although its code begins with 5.
        case loginRefused
        /// The server's name has no address.
        case unknownHost
        case unreachable
        /// Also after the whole message was sent: it may have been taken.
        case timeout
        /// No TLS connection to the server that was meant.
        case untrusted
        /// The connection ended early, or the server is not ready for mail.
        case broken
        /// An address or the message can't be sent as it is.
        case invalid
        /// As many mails wait as may.
        case busy
        case closed
        case cancelled
        case library
    }

    public let kind: Kind
    public let reason: Reason
    /// The server's reply code (RFC 5321 section 4.2), when it was the reply that failed the mail.
    public let code: Int?
    /// The enhanced status (RFC 3463) of that reply, such as `5.1.1`.
    public let enhancedStatus: String?
    private let detail: String

    init(
        _ kind: Kind, _ reason: Reason, code: Int? = nil, enhancedStatus: String? = nil,
        _ detail: String
    ) {
        self.kind = kind
        self.reason = reason
        self.code = code
        self.enhancedStatus = enhancedStatus
        self.detail = detail
    }

    public var isPermanent: Bool { kind == .permanent }

    public static func == (left: SMTPFailure, right: SMTPFailure) -> Bool {
        left.kind == right.kind && left.reason == right.reason && left.code == right.code
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(reason)
        hasher.combine(code)
    }
}

extension SMTPFailure: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        "mail: \(kind.rawValue), \(reason.rawValue)" + (code.map { " (\($0))" } ?? "")
    }

    public var debugDescription: String { "\(description): \(detail)" }
}

extension SMTPFailure {
    static func refused(_ refusal: Refusal) -> SMTPFailure {
        switch refusal {
        case .busy: SMTPFailure(.temporary, .busy, "the line is full")
        case .closed: SMTPFailure(.temporary, .closed, "the client is closed")
        case .cancelled: SMTPFailure(.temporary, .cancelled, "the task was cancelled")
        case .noHandle: SMTPFailure(.temporary, .library, "no handle")
        }
    }

    init(_ outcome: Outcome, _ transfer: Transfer) {
        let reply = transfer.reply(outcome.status)
        let detail = "\(outcome.code.rawValue): \(outcome.detail); \(reply)"
        if let reason = SMTPFailure.reasonWithoutReply(outcome, transfer) {
            self.init(.temporary, reason, detail)
            return
        }
        let code = outcome.status
        let isReply = (400..<600).contains(code)
        let isLogin =
            outcome.code == CURLE_LOGIN_DENIED || [530, 534, 535, 538].contains(code)
        // Before the sender is named, and after, libcurl has different codes for the same no. What
        // a server says to its guest at the door is not about the mail.
        let isAboutMail =
            outcome.code == CURLE_SEND_ERROR
            || outcome.code == CURLE_WEIRD_SERVER_REPLY && transfer.sent > 0
        let kind: Kind = isReply && code >= 500 && isAboutMail && !isLogin ? .permanent : .temporary
        let reason: Reason =
            if isLogin { .loginRefused } else if isReply, isAboutMail { .refused } else { .broken }
        self.init(
            kind, reason, code: isReply ? code : nil,
            enhancedStatus: isReply ? SMTPFailure.enhancedStatus(reply) : nil, detail)
    }

    /// Where what the server said last has nothing to do with the failure.
    private static func reasonWithoutReply(_ outcome: Outcome, _ transfer: Transfer) -> Reason? {
        if outcome.isRefusedOption { return .library }
        if transfer.isTooLarge { return .broken }
        return switch outcome.code {
        case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
        case CURLE_COULDNT_CONNECT: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_ABORTED_BY_CALLBACK: transfer.isCancelled ? .cancelled : .timeout
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: .library
        default: isTLS(outcome.code) ? .untrusted : nil
        }
    }

    /// `550 5.1.1 no such user` → `5.1.1`.
    static func enhancedStatus(_ reply: String) -> String? {
        let words = reply.utf8.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2 else { return nil }
        let parts = words[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 1,
            let first = parts[0].first, [0x32, 0x34, 0x35].contains(first),
            parts.dropFirst().allSatisfy({ part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { return nil }
        return String(words[1])
    }
}
