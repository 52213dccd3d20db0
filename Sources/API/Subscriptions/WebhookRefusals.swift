internal import Identity
internal import JSON

// What the domain refuses of webhooks, as problems.

extension SubscriptionChange.ChangeRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension SubscriptionChange.ResumeRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: return Problem(.noSuchWebhook)
        case .rewound(let kept):
            var problem = Problem(
                .positionLost,
                "The log was set back to \(kept). Name starts_after once the receiver has undone "
                    + "what came later.", field: "starts_after")
            problem.members["kept_to"] = .integer(kept)
            return problem
        }
    }
}

extension SubscriptionChange.RotateSecretRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension SubscriptionChange.ReplayRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
