import EventSourcing
import Identity
import Values

/// A person of the demo history.
struct HistoryPerson: Sendable {
    let account: UUID
    let email: String
    /// Mean number of sign-ins per working day.
    let rate: Double
    /// Where from, as pseudonyms of networks: at home first.
    let networks: [HistoryNetwork]
    let devices: [String]
    /// Whether the person has a passkey.
    let hasPasskey: Bool
    /// The hour, in UTC, around which they sign in.
    let hour: Int
}

/// One command's worth of the demo history.
struct HistoryAct: Sendable {
    let at: Timestamp
    let actor: String
    let address: String
    let events: [NewEvent]
    /// The versions of the streams that it is written to.
    let reads: [UUID: Int]
}

/// The clients of the demo history, by what they are.
struct HistoryClients: Sendable {
    struct Known: Sendable {
        let id: UUID
        let name: String
    }

    let phone: Known
    let shop: Known
    let office: Known
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A month of sign-ins as such a realm has them: people of habits, mistakes, devices that are kept, and five attacks. The same
/// for the same seed, but for the day on which it ends.
struct HistoryPlan {
    static let days = 30

    private let start: Timestamp
    private let people: [HistoryPerson]
    private let clients: HistoryClients
    private let pseudonym: HistoryNetwork.Pseudonym
    private var numbers: SeededNumbers
    private(set) var acts: [HistoryAct] = []

    init(
        _ people: [HistoryPerson], _ clients: HistoryClients, from start: Timestamp, seed: UInt64,
        _ pseudonym: @escaping HistoryNetwork.Pseudonym
    ) {
        self.pseudonym = pseudonym
        self.people = people
        self.clients = clients
        self.start = start
        numbers = SeededNumbers(seed: seed)
    }

    /// The acts of the demo history, in the order of their times.
    static func acts(
        of people: [HistoryPerson], _ clients: HistoryClients, from start: Timestamp, seed: UInt64,
        _ pseudonym: @escaping HistoryNetwork.Pseudonym
    ) -> [HistoryAct] {
        var plan = HistoryPlan(people, clients, from: start, seed: seed, pseudonym)
        for person in people { plan.live(person) }
        plan.attack()
        // What would be later than now has not happened.
        let end = start.adding(seconds: Int64(days) * 86_400)
        return plan.acts.filter { $0.at < end }.sorted { $0.at < $1.at }
    }

    // MARK: - Habits

    private mutating func live(_ person: HistoryPerson) {
        if !person.hasPasskey, let home = person.networks.first {
            // No person signs in by it.
            let set = PassphraseEvent.set(hash: nil, account: person.account, mail: nil, at: start)
            add(set, Passphrase.stream(of: person.account), 0, person, home.address, start)
        }
        for day in 0..<Self.days {
            let isFree = day % 7 >= 5
            let times = chances(isFree ? person.rate / 5 : person.rate)
            for _ in 0..<times {
                let spread = Int64.random(in: -5_400...5_400, using: &numbers)
                let second = Int64(day) * 86_400 + Int64(person.hour) * 3_600 + spread
                signIn(person, at: start.adding(seconds: max(60, second)))
            }
        }
    }

    /// A whole number whose mean is the rate.
    private mutating func chances(_ rate: Double) -> Int {
        let whole = Int(rate)
        return whole + (Double.random(in: 0..<1, using: &numbers) < rate - Double(whole) ? 1 : 0)
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &numbers) < percent
    }

    private mutating func id(_ at: Timestamp) -> UUID { .v7(at: at, using: &numbers) }

    private mutating func signIn(_ person: HistoryPerson, at time: Timestamp) {
        var time = time
        let network =
            chance(70) ? person.networks[0] : person.networks.randomElement(using: &numbers)
        guard let network, let device = person.devices.randomElement(using: &numbers) else {
            return
        }
        let from = network.place(device)
        // People mistype.
        while chance(4) {
            refuse(person, "invalid_code", from, network.address, at: time)
            time = time.adding(seconds: Int64.random(in: 8...40, using: &numbers))
        }
        if chance(45) {
            inBrowser(person, from, network.address, at: time)
        } else {
            onPhone(person, from, network.address, at: time)
        }
    }

    private mutating func onPhone(
        _ person: HistoryPerson, _ from: SignInPlace, _ address: String, at time: Timestamp
    ) {
        let session = id(time)
        let byPasskey = person.hasPasskey && chance(80)
        let terms = SessionTerms(
            account: person.account, stamp: 0, client: clients.phone.id,
            clientID: clients.phone.name, app: nil, scope: ["openid", "offline_access"],
            resources: [], factors: [byPasskey ? .passkey : .mailedCode], openedAt: time,
            expiresAt: time.adding(seconds: 90 * 86_400), isOffline: true, from: from,
            method: byPasskey ? .nativePasskey : .nativeOTP)
        add(SessionEvent.opened(terms), session, 0, person, address, time)
        go(on: session, of: person, address, from: time)
    }

    /// Its tokens are refreshed while it is used, and some people log out.
    private mutating func go(
        on session: UUID, of person: HistoryPerson, _ address: String, from opened: Timestamp
    ) {
        var time = opened
        var version = 1
        for generation in 1...3 where chance(40) {
            time = time.adding(seconds: Int64.random(in: 900...7_200, using: &numbers))
            add(
                SessionEvent.refreshed(generation: generation, at: time), session, version, person,
                address, time)
            version += 1
        }
        guard chance(30) else { return }
        time = time.adding(seconds: Int64.random(in: 600...28_800, using: &numbers))
        add(SessionEvent.ended(.loggedOut), session, version, person, address, time)
    }

    private mutating func inBrowser(
        _ person: HistoryPerson, _ from: SignInPlace, _ address: String, at time: Timestamp
    ) {
        let (browser, session) = (id(time), id(time))
        let byPasskey = person.hasPasskey && chance(60)
        let client = chance(60) ? clients.shop : clients.office
        var secret: [UInt8] = []
        for _ in 0..<32 { secret.append(UInt8.random(in: 0...255, using: &numbers)) }
        guard let digest = SecretDigest(secret) else { return }
        let factor: AuthenticationFactor = byPasskey ? .passkey : .mailedCode
        let terms = BrowserTerms(
            account: person.account, stamp: 0, method: byPasskey ? .passkey : .code,
            factors: [factor], digest: digest, openedAt: time,
            expiresAt: time.adding(seconds: 43_200), from: from)
        add(BrowserSessionEvent.opened(terms), browser, 0, person, address, time)
        let later = time.adding(seconds: Int64.random(in: 1...4, using: &numbers))
        var opened = SessionTerms(
            account: person.account, stamp: 0, client: client.id, clientID: client.name, app: nil,
            scope: ["openid", "profile"], resources: [], factors: [factor], openedAt: later,
            expiresAt: later.adding(seconds: 86_400), isOffline: false, from: from,
            method: .authorizationCode)
        opened.browser = browser
        add(SessionEvent.opened(opened), session, 0, person, address, later)
        go(on: session, of: person, address, from: later)
    }

    // MARK: - Attacks

    private mutating func attack() {
        guard people.count > 500 else { return }
        bruteForce(on: people[17], day: 24)
        stuffing(day: 25)
        spraying(day: 26)
        reuse(of: people[41], day: 27)
        wake(people[people.count - 1], day: 28)
    }

    private mutating func network() -> HistoryNetwork {
        .any(using: &numbers, isAbroad: true, pseudonym)
    }

    /// Many networks guess one person's codes at night, and get in at the end.
    private mutating func bruteForce(on person: HistoryPerson, day: Int64) {
        let networks = (0..<8).map { _ in network() }
        var time = start.adding(seconds: day * 86_400 + 9_000)
        for number in 0..<24 {
            let from = networks[number % networks.count]
            refuse(
                person, "invalid_passphrase", from.place("Linux"),
                from.address, at: time)
            time = time.adding(seconds: Int64.random(in: 20...60, using: &numbers))
        }
        inBrowser(
            person, networks[3].place("Linux"),
            networks[3].address, at: time.adding(seconds: 600))
    }

    /// One network tries the passphrases of a leak, one for each person.
    private mutating func stuffing(day: Int64) {
        let from = network()
        var time = start.adding(seconds: day * 86_400 + 50_000)
        for number in 0..<180 {
            refuse(
                people[(number * 7 + 3) % people.count], "invalid_passphrase",
                from.place("Windows"), from.address, at: time)
            time = time.adding(seconds: Int64.random(in: 1...6, using: &numbers))
        }
    }

    /// One network tries a few common passphrases on each of a few people, slowly.
    private mutating func spraying(day: Int64) {
        let from = network()
        var time = start.adding(seconds: day * 86_400 + 66_000)
        for round in 0..<4 {
            for number in 0..<12 {
                refuse(
                    people[100 + number * 3], "invalid_passphrase",
                    from.place("Linux"), from.address, at: time)
                time = time.adding(seconds: Int64.random(in: 5...30, using: &numbers))
            }
            time = time.adding(seconds: Int64(round) + 240)
        }
    }

    /// A stolen refresh token is used once more: its session ends.
    private mutating func reuse(of person: HistoryPerson, day: Int64) {
        let (home, thief) = (person.networks[0], network())
        let time = start.adding(seconds: day * 86_400 + 30_000)
        let session = id(time)
        let terms = SessionTerms(
            account: person.account, stamp: 0, client: clients.phone.id,
            clientID: clients.phone.name, app: nil, scope: ["openid", "offline_access"],
            resources: [], factors: [.mailedCode], openedAt: time,
            expiresAt: time.adding(seconds: 90 * 86_400), isOffline: true,
            from: home.place("Android"), method: .nativeOTP)
        add(SessionEvent.opened(terms), session, 0, person, home.address, time)
        let refreshed = time.adding(seconds: 3_600)
        add(
            SessionEvent.refreshed(generation: 1, at: refreshed), session, 1, person,
            thief.address, refreshed)
        let again = time.adding(seconds: 5_400)
        add(
            SessionEvent.ended(.reuse, from: home.place("Android")),
            session, 2, person, home.address, again)
    }

    /// An account that was unused all month signs in from somewhere new.
    private mutating func wake(_ person: HistoryPerson, day: Int64) {
        let from = network()
        inBrowser(
            person, from.place("Windows"), from.address,
            at: start.adding(seconds: day * 86_400 + 12_000))
    }

    private mutating func refuse(
        _ person: HistoryPerson, _ reason: String, _ from: SignInPlace, _ address: String,
        at time: Timestamp
    ) {
        let attempt = id(time)
        let isTyped = reason == "invalid_passphrase"
        let event: any Event =
            isTyped
            ? BrowserSessionEvent.refused(
                RefusedBrowser(
                    method: .passphrase, reason: reason, account: person.account, from: from))
            : SessionEvent.refused(
                RefusedSignIn(
                    method: .nativeOTP, reason: reason, account: person.account,
                    client: clients.phone.id, clientID: clients.phone.name, app: nil, from: from))
        add(event, attempt, 0, person, address, time)
    }

    private mutating func add(
        _ event: any Event, _ stream: UUID, _ version: Int, _ person: HistoryPerson,
        _ address: String, _ at: Timestamp
    ) {
        var decision = Decision()
        decision.append(event, in: stream)
        acts.append(
            HistoryAct(
                at: at, actor: "user:\(person.account)", address: address,
                events: decision.events, reads: [stream: version]))
    }
}

/// A network of a reserved range (RFC 2544), with the realm's pseudonym for it, and a place that is made up.
struct HistoryNetwork: Sendable {
    /// What the realm's log has in the place of an address.
    typealias Pseudonym = @Sendable (String) -> String

    let source: String
    let address: String
    private let location: GeoLocation

    /// - Parameter isAbroad: it is none of those at home.
    static func any(
        using numbers: inout SeededNumbers, isAbroad: Bool = false, _ pseudonym: Pseudonym
    ) -> HistoryNetwork {
        let bits = Int.random(in: 0..<(1 << 17), using: &numbers)
        let address = "198.\(18 + bits >> 16).\(bits >> 8 & 255).\(bits & 255)"
        let places = isAbroad ? abroad : home
        return HistoryNetwork(
            source: pseudonym(address), address: address,
            location: places[Int.random(in: 0..<places.count, using: &numbers)])
    }

    func place(_ device: String) -> SignInPlace {
        SignInPlace(source: source, device: device, location: location)
    }

    private static let home = [
        GeoLocation("CH", 64_496, "Zurich", 47.3769, 8.5417),
        GeoLocation("CH", 64_497, "Bern", 46.948, 7.4474),
        GeoLocation("DE", 64_498, "Munich", 48.1374, 11.5755),
        GeoLocation("AT", 64_499, "Vienna", 48.2085, 16.3721),
    ]
    private static let abroad = [
        GeoLocation("US", 64_500, "New York", 40.7128, -74.006),
        GeoLocation("BR", 64_501, "São Paulo", -23.5475, -46.6361),
        GeoLocation("VN", 64_502, "Hanoi", 21.0245, 105.8412),
        GeoLocation("NG", 64_503, "Lagos", 6.4541, 3.3947),
    ]
}

extension GeoLocation {
    /// With a number of the systems for documents (RFC 5398).
    fileprivate init(
        _ country: String, _ asn: Int64, _ city: String, _ latitude: Double, _ longitude: Double
    ) {
        self.init(
            country: country, asn: asn, city: city,
            coordinates: GeoCoordinates(latitude: latitude, longitude: longitude))
    }
}
