public import JSON
internal import Values

/// Reads a policy. Its schema is closed: of a name that is not known, the near one is told.
public enum PolicyReader {
    /// The ways of the pages and the grants by which people sign in.
    public static let methods: [String] =
        Set(
            BrowserMethod.recorded + AppSignInMethod.allCases.map(\.rawValue)
                + [
                    GrantType.deviceCode, .jwtBearer, .nativeOTP, .nativeMagicLink, .nativePasskey,
                    .password, .flagship,
                ].map(\.rawValue)
        ).sorted()
    public static let days = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    public static let mostValues = 200
    public static let mostSessions: Int64 = 1_000
    public static let mostTries: Int64 = 1_000
    public static let mostMinutes: Int64 = 10_080
    /// Seconds: ten years.
    static let longest: Int64 = 3_650 * 86_400

    /// Those that the log tells apart: IPv4 addresses and IPv6 /64s.
    public static let mostNetworks = 65_536

    /// - Parameter size: how many networks an IP address or a range of them stands for; nil of another text.
    public static func policy(
        _ json: JSON, size: (String) -> Int?
    ) throws(PolicyFault) -> SignInPolicy {
        let place = PolicyPlace(json)
        try place.mustHave(only: PolicyRule.allCases.map(\.rawValue))
        var policy = SignInPolicy(json)
        policy.secondFactor = try place[.secondFactor].map { place throws(PolicyFault) in
            try secondFactor(place)
        }
        policy.methods = try place[.methods].map { place throws(PolicyFault) in
            Set(try place.texts(methods.count, known: methods))
        }
        policy.countries = try place[.countries].map { place throws(PolicyFault) in
            try countries(place)
        }
        policy.networks = try place[.networks].map { place throws(PolicyFault) in
            try networks(place, size)
        }
        policy.hours = try place[.hours].map { place throws(PolicyFault) in try hours(place) }
        policy.deviceAge = try place[.devices].map { place throws(PolicyFault) in
            try place.mustHave(only: ["known_for"])
            return try required("known_for", of: place).duration(upTo: longest)
        }
        policy.sessionLifetime = try place[.sessionLifetime].map { place throws(PolicyFault) in
            try place.duration(upTo: longest)
        }
        policy.idleLifetime = try place[.idleLifetime].map { place throws(PolicyFault) in
            try place.duration(upTo: longest)
        }
        policy.maxSessions = try place[.maxSessions].map { place throws(PolicyFault) in
            Int(try place.number(in: 1...mostSessions))
        }
        policy.lock = try place[.lock].map { place throws(PolicyFault) in
            try place.mustHave(only: ["n", "minutes"])
            return SignInPolicy.Lock(
                tries: Int(try required("n", of: place).number(in: 1...mostTries)),
                seconds: try required("minutes", of: place).number(in: 1...mostMinutes) * 60)
        }
        return policy
    }

    private static func required(
        _ name: String, of place: PolicyPlace
    ) throws(PolicyFault) -> PolicyPlace {
        guard let member = place[name] else { throw place.fault("must have \(name)") }
        return member
    }

    private static func secondFactor(
        _ place: PolicyPlace
    ) throws(PolicyFault) -> SignInPolicy.SecondFactor {
        try place.mustHave(only: ["all", "roles", "clients"])
        var rule = SignInPolicy.SecondFactor()
        if let all = place["all"] {
            guard all.json == .bool(true) else { throw all.fault("must be true, or not there") }
            rule.isForAll = true
        }
        rule.roles = try place["roles"]?.texts(mostValues) ?? []
        rule.clients = try place["clients"]?.texts(mostValues) ?? []
        return rule
    }

    /// An allow list or a deny list.
    private static func choice(
        _ place: PolicyPlace
    ) throws(PolicyFault) -> (allows: Bool, list: PolicyPlace) {
        try place.mustHave(only: ["allow", "deny"])
        switch (place["allow"], place["deny"]) {
        case (let allow?, nil): return (true, allow)
        case (nil, let deny?): return (false, deny)
        default: throw place.fault("must have either allow or deny")
        }
    }

    private static func countries(
        _ place: PolicyPlace
    ) throws(PolicyFault) -> SignInPolicy.Choice<String> {
        let (allows, list) = try choice(place)
        var countries: Set<String> = []
        for place in try list.elements(mostValues) {
            let code = place.json.string ?? ""
            guard code.utf8.count == 2, code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
                throw place.fault("must be a country of two capital letters such as CH")
            }
            countries.insert(code)
        }
        return SignInPolicy.Choice(allows: allows, values: countries)
    }

    private static func networks(
        _ place: PolicyPlace, _ size: (String) -> Int?
    ) throws(PolicyFault) -> SignInPolicy.Networks {
        let (allows, list) = try choice(place)
        var systems: Set<Int64> = []
        var addresses: [String] = []
        var count = 0
        for place in try list.elements(mostValues) {
            let text = place.json.string ?? ""
            if text.hasPrefix("AS"), let number = PolicyPlace.number(text.utf8.dropFirst(2)),
                number <= 4_294_967_295
            {
                systems.insert(number)
            } else if let size = size(text) {
                let (sum, isOver) = count.addingReportingOverflow(size)
                guard !isOver, sum <= mostNetworks else {
                    throw place.fault(
                        "is too wide: ranges may have \(mostNetworks) networks in all, an IPv4 address or an "
                            + "IPv6 /64 each; name the system instead, such as AS64500")
                }
                count = sum
                addresses.append(text)
            } else {
                throw place.fault(
                    "must be a system such as AS64500, an IP address, or a range such as 203.0.113.0/24"
                )
            }
        }
        return SignInPolicy.Networks(allows: allows, systems: systems, addresses: addresses)
    }

    private static func hours(_ place: PolicyPlace) throws(PolicyFault) -> SignInPolicy.Hours {
        try place.mustHave(only: ["days", "from", "to", "offset"])
        let start = try required("from", of: place).timeOfDay()
        let last = try required("to", of: place)
        let end = try last.timeOfDay()
        guard start != end else { throw last.fault("must be another time than from") }
        let named = try place["days"]?.texts(days.count, known: days) ?? days
        return SignInPolicy.Hours(
            days: Set(named.compactMap { days.firstIndex(of: $0).map { Int64($0) } }),
            start: start, end: end, offset: try place["offset"]?.offset() ?? 0)
    }
}

extension PolicyPlace {
    fileprivate subscript(rule: PolicyRule) -> PolicyPlace? { self[rule.rawValue] }
}
