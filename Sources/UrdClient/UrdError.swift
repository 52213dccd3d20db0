public import Foundation

public enum UrdError: Error, Sendable, Equatable {
    /// No answer came: whether the request arrived is not known.
    case unreachable(String)
    /// No user is signed in, or the session has ended: sign in again.
    case signedOut
    /// The account has a second factor: the same again, with it.
    case secondFactorNeeded
    case rateLimited(retryAfter: TimeInterval)
    /// The server is busy or has an outage: nothing was used up.
    case unavailable(retryAfter: TimeInterval)
    /// What the server said no with: a code for programs, and a sentence for developers.
    case refused(status: Int, code: String, detail: String)
    case unexpectedAnswer(String)

    /// The refresh token is good for nothing any more.
    var isOver: Bool {
        if case .refused(_, "invalid_grant", _) = self { true } else { false }
    }
}

extension UrdError {
    /// Reads a refusal, in any of the server's formats.
    init(status: Int, retryAfter: String?, body: Data) {
        struct Refusal: Decodable {
            let error: String?
            let errorDescription: String?
            let title: String?
            let detail: String?
            let message: String?

            enum CodingKeys: String, CodingKey {
                case error, title, detail
                case errorDescription = "error_description"
                case message = "Message"
            }
        }
        let wait = retryAfter.flatMap { TimeInterval($0) } ?? 1
        let refusal = try? JSONDecoder().decode(Refusal.self, from: body)
        let detail = refusal?.errorDescription ?? refusal?.detail ?? refusal?.message ?? ""
        switch status {
        case 429: self = .rateLimited(retryAfter: wait)
        case 503: self = .unavailable(retryAfter: wait)
        case _ where detail.hasPrefix("Two-factor authentication is required"):
            self = .secondFactorNeeded
        default:
            self = .refused(
                status: status, code: refusal?.error ?? refusal?.title ?? "", detail: detail)
        }
    }
}

func decoded<Value: Decodable>(_ data: Data) throws -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: data)
    } catch {
        throw UrdError.unexpectedAnswer("\(Value.self): \(error)")
    }
}
