/// A number of a rule that a realm may set.
public struct FindingThreshold: Sendable, Equatable {
    public enum Name: String, CaseIterable, Comparable, Sendable {
        case accounts
        case acts
        case asked
        case closesAfter = "closes_after"
        case countries
        case days
        case distance
        case factor
        case failures
        case lasting
        case leastPerAccount = "least_per_account"
        case lockOuts = "lock_outs"
        case mostPerAccount = "most_per_account"
        case sessions
        case share
        case signIns = "sign_ins"
        case sources
        case speed
        case tries
        case window

        public static func < (left: Name, right: Name) -> Bool { left.rawValue < right.rawValue }

        /// The description of the threshold in a sentence.
        public var sentence: String {
            switch self {
            case .accounts: "Minimum number of accounts."
            case .acts: "Minimum number of known acts of the key."
            case .asked: "Minimum number of requests."
            case .closesAfter:
                "Seconds without further events after which the finding closes itself."
            case .countries: "Minimum number of countries."
            case .days: "Number of past days that are considered."
            case .distance: "Distance in kilometres that must be exceeded."
            case .factor: "Multiple of the busiest day that must be exceeded."
            case .failures: "Minimum number of failed sign-ins."
            case .lasting: "Minimum number of seconds between the first and the last attempt."
            case .leastPerAccount: "Minimum number of attempts on an account that counts."
            case .lockOuts: "Minimum number of lock-outs."
            case .mostPerAccount: "Maximum number of attempts on an account that counts."
            case .sessions: "Minimum number of open sessions."
            case .share: "Minimum percentage of accounts with no more attempts than that."
            case .signIns: "Minimum number of earlier sign-ins of the account."
            case .sources: "Minimum number of networks."
            case .speed: "Speed in kilometres per hour that must be exceeded."
            case .tries: "Minimum number of attempts."
            case .window: "Time window in seconds."
            }
        }
    }

    public let name: Name
    public let fallback: Int64
    public let range: ClosedRange<Int64>

    private init(_ name: Name, _ fallback: Int64, _ range: ClosedRange<Int64>) {
        self.name = name
        self.fallback = fallback
        self.range = range
    }

    /// What is counted; a finding names the events that it rests on, so there is a limit to it.
    private static func count(_ name: Name, _ fallback: Int64, from lowest: Int64 = 2) -> Self {
        Self(name, fallback, lowest...500)
    }

    private static func window(_ seconds: Int64) -> Self { Self(.window, seconds, 60...86_400) }

    private static func days(_ days: Int64) -> Self { Self(.days, days, 1...365) }

    private static func closes(after seconds: Int64) -> Self {
        Self(.closesAfter, seconds, 60...(31 * 86_400))
    }

    private static let day: Int64 = 86_400

    static func of(_ rule: FindingRule) -> [FindingThreshold] {
        switch rule {
        case .bruteForce:
            [
                .count(.failures, 10), .count(.sources, 5, from: 1), .window(1800),
                .closes(after: 1800),
            ]
        case .credentialStuffing:
            [
                .count(.accounts, 15), .count(.mostPerAccount, 2, from: 1),
                Self(.share, 80, 1...100), .count(.tries, 25), .window(900), .closes(after: 900),
            ]
        case .passwordSpraying:
            [
                .count(.accounts, 5), Self(.lasting, 300, 0...86_400),
                .count(.leastPerAccount, 2, from: 1), .count(.mostPerAccount, 8, from: 1),
                .count(.tries, 15), .window(3600), .closes(after: 3600),
            ]
        case .distributedSpraying:
            [
                .count(.accounts, 8), .count(.mostPerAccount, 5, from: 1), .count(.sources, 5),
                .count(.tries, 25), .window(900), .closes(after: 900),
            ]
        case .lockOuts: [.count(.lockOuts, 3, from: 1), .window(10_800), .closes(after: 10_800)]
        case .secondFactorFatigue: [.count(.asked, 5), .window(600), .closes(after: 600)]
        case .signInAfterAttack: [.window(21_600), .closes(after: day)]
        case .tokenReuse: [.closes(after: day)]
        case .secondFactorRemoved: [.window(43_200), .closes(after: day)]
        case .newDevice, .newSource:
            [.days(90), .count(.signIns, 5, from: 1), .closes(after: day)]
        case .dormantAccount: [.days(90), .closes(after: day)]
        case .manySessions: [.count(.sessions, 3), .window(1800), .closes(after: 1800)]
        case .unusualHour: [.count(.acts, 20, from: 1), .days(30), .closes(after: day)]
        case .massDisclosure:
            [
                .count(.accounts, 25, from: 1), .days(30), Self(.factor, 3, 1...100),
                .closes(after: day),
            ]
        case .severalCountries: [.count(.countries, 2), .window(1800), .closes(after: day)]
        case .impossibleTravel:
            [
                Self(.distance, 500, 100...20_000), Self(.speed, 1000, 100...100_000),
                .closes(after: day),
            ]
        }
    }
}

extension FindingRule {
    /// The thresholds in the order of their names.
    public var thresholds: [FindingThreshold] { Self.listed[self] ?? [] }

    private static let listed = Dictionary(
        uniqueKeysWithValues: allCases.map { rule in
            (rule, FindingThreshold.of(rule).sorted { $0.name < $1.name })
        })
}
