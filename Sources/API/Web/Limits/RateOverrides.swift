internal import Identity
internal import JSON

/// What a realm says of its rates: only where they differ from the usual ones.
extension RateTable {
    /// Null and an amount of 0 lift a limit. What names nothing that is counted means nothing.
    init(_ overrides: JSONObject) {
        self = .standard
        for (policy, dimensions) in overrides {
            guard let policy = RatePolicy(rawValue: policy) else { continue }
            for (dimension, value) in dimensions.object ?? [:] {
                guard let dimension = RateDimension(rawValue: dimension) else { continue }
                self[policy, dimension] = Rate(value)
            }
        }
    }

    /// Every policy and dimension by name, so that a slip is found where it is made.
    static let overrideSchema = Schema.named(
        "RateLimits",
        .object(
            RatePolicy.allCases.map { policy in
                .optional(
                    policy.rawValue,
                    .object(
                        RateDimension.allCases.map { dimension in
                            .optional(
                                dimension.rawValue, .nullable(rateSchema),
                                "Limit of this dimension; null or an amount of 0 for none.")
                        }), "Limits of this policy, by dimension.")
            }))

    private static let rateSchema = Schema.named(
        "Rate",
        .object(
            .required("amount", .integer(RateRule.amounts), "Number of requests."),
            .required(
                "seconds", .integer(RateRule.seconds),
                "Period in seconds, over which the requests are spread evenly."),
            .optional(
                "burst", .integer(RateRule.bursts),
                "Number of requests at once; the amount by default.")))
}

extension Rate {
    fileprivate init?(_ value: JSON) {
        guard let amount = value["amount"]?.integer, let seconds = value["seconds"]?.integer else {
            return nil
        }
        self.init(
            Int(clamping: amount), per: .seconds(seconds),
            burst: value["burst"]?.integer.map { Int(clamping: $0) })
    }
}
