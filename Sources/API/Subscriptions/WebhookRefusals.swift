internal import Identity
internal import JSON

// What the domain refuses of webhooks, as problems.

extension ChangeSubscription.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ResumeSubscription.Rejection: Refusal {
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

extension RotateSubscriptionSecret.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ReplaySubscription.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchWebhook)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
