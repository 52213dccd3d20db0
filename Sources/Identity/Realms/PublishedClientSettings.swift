/// Whether apps may sign what has neither a number nor a time in it, and how often that is good.
public enum UntimedRequests: String, CaseIterable, Sendable {
    case refused
    /// A signed request is single-use.
    case once
    /// What was signed is good once with each request that it comes with.
    case oncePerRequest = "once_per_request"
}

/// What a realm takes from clients that are in use and ask for less than they should. Each is off, and `urd doctor
/// --security` names those that are on.
extension SettingCatalogue {
    public static let untimedRequests = Declare.choice(
        "untimed_requests", UntimedRequests.refused,
        "Whether apps of the federation profile may sign JWTs without iat and seq: refused, good once, or good "
            + "once with each request")
    public static let unsignedDiscovery = Declare.flag(
        "unsigned_discovery", false,
        "Whether apps of the federation profile may ask without a token which services speak a protocol"
    )
    public static let tokensUnasked = Declare.flag(
        "tokens_unasked", false,
        "Whether apps of the verify profile get tokens for a code without oauth_token=true")
    public static let shortEventNumbers = Declare.flag(
        "short_event_numbers", false,
        "Whether events of the verify profile have numbers of 31 bits: tokens for them are then given to the "
            + "network alone that asked for the event")

    static let publishedClients = [
        untimedRequests.setting, unsignedDiscovery.setting, tokensUnasked.setting,
        shortEventNumbers.setting,
    ]
}
