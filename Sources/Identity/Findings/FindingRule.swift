/// A rule by which events of the log become a finding.
public enum FindingRule: String, CaseIterable, Comparable, Sendable {
    case bruteForce = "brute_force"
    case credentialStuffing = "credential_stuffing"
    case passwordSpraying = "password_spraying"
    case distributedSpraying = "distributed_spraying"
    case lockOuts = "lock_outs"
    case secondFactorFatigue = "second_factor_fatigue"
    case signInAfterAttack = "sign_in_after_attack"
    case tokenReuse = "token_reuse"
    case secondFactorRemoved = "second_factor_removed"
    case newDevice = "new_device"
    case newSource = "new_source"
    case dormantAccount = "dormant_account"
    case manySessions = "many_sessions"
    case unusualHour = "unusual_hour"
    case massDisclosure = "mass_disclosure"
    case severalCountries = "several_countries"
    case impossibleTravel = "impossible_travel"

    public static func < (left: FindingRule, right: FindingRule) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The description of the rule in a sentence.
    public var sentence: String {
        switch self {
        case .bruteForce: "Many failed sign-ins to one account came from several networks."
        case .credentialStuffing:
            "One network tried many accounts, most of them once or twice."
        case .passwordSpraying: "One network tried a few guesses at each of several accounts."
        case .distributedSpraying:
            "Several networks tried a few guesses at each of many accounts."
        case .lockOuts: "Wrong guesses locked one account again and again."
        case .secondFactorFatigue:
            "A person was asked for the second factor again and again without success."
        case .signInAfterAttack: "An account was signed in to while it was under attack."
        case .tokenReuse: "A refresh token or a code was shown again and ended its session."
        case .secondFactorRemoved: "A second factor was removed and none was added."
        case .newDevice: "A person signed in on a kind of device that is new for them."
        case .newSource: "A person signed in from a network that is new for them."
        case .dormantAccount: "An account was signed in to that had long been unused."
        case .manySessions: "Many sessions of one account were opened within a short time."
        case .unusualHour:
            "An administrator's key was used at an hour at which it is never used."
        case .massDisclosure: "A key opened far more personal data than it ever does in a day."
        case .severalCountries:
            "A person signed in from several countries within a short time."
        case .impossibleTravel:
            "A person signed in from two places too far apart for the time between."
        }
    }

    /// The sentence with the places of the finding.
    public func sentence(at places: [String]) -> String {
        guard !places.isEmpty else { return sentence }
        return
            "\(sentence.dropLast()): \(places.joined(separator: self == .impossibleTravel ? ", then " : ", "))."
    }

    /// The risk level, unless a finding has its own.
    public var level: FindingLevel {
        switch self {
        case .newDevice, .newSource, .manySessions, .unusualHour: .low
        case .bruteForce, .passwordSpraying, .lockOuts, .secondFactorFatigue,
            .signInAfterAttack, .secondFactorRemoved, .dormantAccount, .severalCountries,
            .impossibleTravel:
            .medium
        case .credentialStuffing, .distributedSpraying, .tokenReuse, .massDisclosure: .high
        }
    }

    /// Whether it is an attempt on accounts: a sign-in to one of them afterwards is a finding too.
    var isAttack: Bool {
        switch self {
        case .bruteForce, .credentialStuffing, .passwordSpraying, .distributedSpraying: true
        case .lockOuts, .secondFactorFatigue, .signInAfterAttack, .tokenReuse,
            .secondFactorRemoved, .newDevice, .newSource, .dormantAccount, .manySessions,
            .unusualHour, .massDisclosure, .severalCountries, .impossibleTravel:
            false
        }
    }
}

/// How bad a finding is: the levels of CAEP's `risk-level-change`.
public enum FindingLevel: String, CaseIterable, Comparable, Sendable {
    case low
    case medium
    case high

    private var rank: Int {
        switch self {
        case .low: 0
        case .medium: 1
        case .high: 2
        }
    }

    public static func < (left: FindingLevel, right: FindingLevel) -> Bool {
        left.rank < right.rank
    }
}
