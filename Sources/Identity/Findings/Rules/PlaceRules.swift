internal import Values

/// Sign-ins of one account from several countries shortly after each other.
struct SeveralCountriesRule: FindingRuleGroup {
    private var signIns = KeyedWindows<UUID, FindingPlace>()

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        if case .accountGone(let account) = fact { signIns.remove(account) }
        guard case .signedIn(let signIn) = fact, let place = FindingPlace(signIn),
            !place.country.isEmpty
        else { return }
        let window = signIns.append(
            place, of: signIn.account, at: desk.moment,
            seconds: desk.seconds(.severalCountries))
        // The newest of each country: those are what a person was seen in last.
        var newest: [String: (moment: EventMoment, entry: FindingPlace)] = [:]
        for element in window.all { newest[element.entry.country] = element }
        guard let terms = desk.terms(.severalCountries), newest.count >= terms.count(.countries)
        else { return }
        let evidence = newest.values.sorted { $0.moment.position < $1.moment.position }
        desk.find(.severalCountries, .account(signIn.account)) {
            FindingTrigger(
                .severalCountries, about: .account(signIn.account), evidence.map(\.moment),
                counts: [.countries: evidence.count], places: evidence.map(\.entry.text))
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        signIns.forget(before: now.adding(seconds: -rules[.severalCountries][.window]))
    }

    mutating func begin(anewAt now: Timestamp) { signIns.removeAll() }
}

/// Two sign-ins of one account, one after the other, that lie too far apart for the time between them. What is
/// compared are the nearest points of the squares that they came from, so that what is found is true of the places too.
struct ImpossibleTravelRule: FindingRuleGroup {
    private struct Stop: Sendable {
        let moment: EventMoment
        let place: FindingPlace
        let area: GeoSquare
    }

    private var last: [UUID: Stop] = [:]
    /// Half the way around the Earth, in kilometres.
    private static let farthest: Int64 = 20_040

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        if case .accountGone(let account) = fact { last[account] = nil }
        guard case .signedIn(let signIn) = fact, let place = FindingPlace(signIn),
            let area = signIn.area
        else { return }
        let stop = Stop(moment: desk.moment, place: place, area: area)
        guard let before = last.updateValue(stop, forKey: signIn.account),
            let terms = desk.terms(.impossibleTravel)
        else { return }
        let distance = area.leastDistance(to: before.area)
        let seconds = stop.moment.time.seconds - before.moment.time.seconds
        guard distance > terms.count(.distance),
            Int64(distance) * 3600 > terms[.speed] * seconds
        else { return }
        // Within one second is as fast as can be said.
        let speed = Int64(distance) * 3600 / max(1, seconds)
        desk.find(.impossibleTravel, .account(signIn.account), isWhole: true) {
            FindingTrigger(
                .impossibleTravel, about: .account(signIn.account), [before.moment, stop.moment],
                counts: [.distance: distance, .speed: Int(clamping: speed)],
                places: [before.place.text, place.text])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        let longest = Self.farthest * 3600 / rules[.impossibleTravel][.speed]
        last = last.filter { $0.value.moment.time.adding(seconds: longest) >= now }
    }

    mutating func begin(anewAt now: Timestamp) { last = [:] }
}

/// Where a sign-in came from, as findings name it.
private struct FindingPlace: Sendable {
    /// The country code; empty for an unknown country.
    let country: String
    let text: String

    init?(_ signIn: FindingFact.SignIn) {
        guard signIn.country != nil || signIn.area != nil else { return nil }
        country = signIn.country ?? ""
        text = [signIn.country, signIn.area?.description].compactMap(\.self)
            .joined(separator: " ")
    }
}
