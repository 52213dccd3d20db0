internal import ReadModels
internal import Values

/// Sign-ins of two steps leave two rows: a user who did the second one is not to read that it is
/// missing.
enum FirstSteps {
    /// Seconds within which the second factor has to follow the first.
    private static let patience: Int64 = 900

    /// The places of first steps that the second one came after: the next attempt of the same way from
    /// the same place. As long as the two are not surely one sign-in, the second step is missing.
    static func followed(_ newestFirst: [LoginView]) -> Set<Int64> {
        var followed: Set<Int64> = []
        var next: [AttemptKey: LoginView] = [:]
        for attempt in newestFirst {
            let way = AttemptKey(attempt)
            if attempt.reason == "second_factor_required", let second = next[way],
                second.isSecondStep, second.at < attempt.at.adding(seconds: patience)
            {
                followed.insert(attempt.position)
            }
            next[way] = attempt
        }
        return followed
    }

    private struct AttemptKey: Hashable {
        let method: String?
        let clientID: String?
        let source: String?
        let device: String?

        init(_ attempt: LoginView) {
            (method, clientID) = (attempt.method, attempt.clientID)
            (source, device) = (attempt.source, attempt.device)
        }
    }
}

extension LoginView {
    /// An account that has a second factor is never signed in without it.
    fileprivate var isSecondStep: Bool { !isRefused || reason == "invalid_second_factor" }
}
