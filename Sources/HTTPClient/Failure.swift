internal import CCurl

/// Why there is no response. A response with any status is none of these.
///
/// `description` is bland; the detail, which may name hosts and addresses, is for our own log.
public struct Failure: Error, Sendable, Hashable {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The URL, a header or the configuration cannot be sent as it is.
        case invalidRequest
        /// No connection, and at least one address was refused by the client's `destinations`.
        case forbiddenAddress
        /// The host has no address.
        case unknownHost
        case unreachable
        case timeout
        /// No TLS connection to the host that was meant.
        case untrusted
        /// More than the client takes.
        case tooLarge
        /// Too many redirects, or one to where the client does not follow.
        case refusedRedirect
        /// The connection ended early, or what came was no HTTP.
        case broken
        /// As many requests wait as may.
        case busy
        case closed
        case cancelled
        case library
    }

    public let code: Code
    private let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    public static func == (left: Failure, right: Failure) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Failure: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "HTTP client: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

extension Failure {
    static func refused(_ refusal: Refusal) -> Failure {
        switch refusal {
        case .busy: Failure(.busy, "the line is full")
        case .closed: Failure(.closed, "the client is closed")
        case .cancelled: Failure(.cancelled, "the task was cancelled")
        case .noHandle: Failure(.library, "no handle")
        }
    }

    init(_ outcome: Outcome, _ transfer: Transfer) {
        let code: Code =
            if outcome.isRefusedOption {
                .library
            } else if transfer.isTooLarge {
                .tooLarge
            } else if outcome.code == CURLE_COULDNT_CONNECT, transfer.metForbiddenAddress {
                .forbiddenAddress
            } else if outcome.code == CURLE_ABORTED_BY_CALLBACK, !transfer.isCancelled {
                .timeout
            } else {
                Failure.code(of: outcome.code, isRedirect: (300..<400).contains(outcome.status))
            }
        self.init(code, "\(outcome.code.rawValue): \(outcome.detail)")
    }

    private static func code(of code: CURLcode, isRedirect: Bool) -> Code {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .unknownHost
        case CURLE_COULDNT_CONNECT: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_ABORTED_BY_CALLBACK: .cancelled
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        case CURLE_TOO_MANY_REDIRECTS: .refusedRedirect
        // A user name in the place to go to, or a scheme; elsewhere a response without a head.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_LOGIN_DENIED, CURLE_URL_MALFORMAT:
            isRedirect ? .refusedRedirect : .broken
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: .library
        default: isTLS(code) ? .untrusted : .broken
        }
    }
}

/// The ways in which no trusted TLS connection comes about.
func isTLS(_ code: CURLcode) -> Bool {
    [
        CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_USE_SSL_FAILED,
    ].contains(code)
}
