import HTTP
import HTTPClient
import ReadModels
import Values

/// What became of one attempt to deliver.
struct WebhookAnswer: Sendable {
    enum Verdict: Sendable, Equatable {
        case taken
        /// The receiver wants nothing more.
        case gone
        /// It cannot be reached, or asks to be left alone: this is about the receiver, not the event.
        case unreachable
        /// This event was refused.
        case refused
        /// The terms do not want the event, which waited by other terms or was asked for again with a range of others.
        case leftOut
        /// It was not tried: this node may have lost its place.
        case notTried
    }

    var verdict: Verdict
    var status = 0
    /// In one word, for administrators.
    var outcome: String
    var retryAfter: Duration?
    var text = ""
    var took: Duration = .zero

    static let notTried = WebhookAnswer(verdict: .notTried, outcome: "not_tried")
    static let leftOut = WebhookAnswer(verdict: .leftOut, outcome: "left_out")

    private static let textLimit = 4096

    init(verdict: Verdict, outcome: String) {
        self.verdict = verdict
        self.outcome = outcome
    }

    init(_ response: Response, at now: Timestamp) {
        status = response.status.code
        switch status {
        case 200..<300: (verdict, outcome) = (.taken, DeliveryAttempt.delivered)
        case 410: (verdict, outcome) = (.gone, "gone")
        case 429, 502, 503, 504: (verdict, outcome) = (.unreachable, "slow_down")
        case 300..<400: (verdict, outcome) = (.refused, "redirect")
        default: (verdict, outcome) = (.refused, "refused")
        }
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.seconds($0, at: now) }
            .map { .seconds(max(0, min($0, 86_400))) }
        text = Self.shown(response.body)
    }

    init(_ failure: HTTPClient.Failure) {
        switch failure.code {
        case .invalidRequest: (verdict, outcome) = (.refused, "invalid_request")
        case .forbiddenAddress: (verdict, outcome) = (.unreachable, "not_public")
        case .unknownHost: (verdict, outcome) = (.unreachable, "unknown_host")
        case .unreachable: (verdict, outcome) = (.unreachable, "unreachable")
        case .timeout: (verdict, outcome) = (.unreachable, "timeout")
        case .untrusted: (verdict, outcome) = (.unreachable, "untrusted")
        case .refusedRedirect: (verdict, outcome) = (.refused, "redirect")
        case .tooLarge: (verdict, outcome) = (.refused, "answer_too_large")
        case .broken: (verdict, outcome) = (.unreachable, "broken")
        case .busy, .closed, .cancelled, .library: (verdict, outcome) = (.notTried, "not_tried")
        }
    }

    /// Text alone, without what a terminal or a page would act on.
    private static func shown(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(textLimit), as: UTF8.self)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            ))
    }
}
