import EventSourcing
import Foundation
import Identity
import JSON
import Testing
import Values

private let geneva = GeoLocation(country: "CH", coordinates: .init(latitude: 46.2, longitude: 6.14))
private let berlin = GeoLocation(
    country: "DE", coordinates: .init(latitude: 52.52, longitude: 13.4))
private let newYork = GeoLocation(
    country: "US", coordinates: .init(latitude: 40.71, longitude: -74))

@Suite struct `The rules about places` {
    private func story(_ signIns: [(GeoLocation?, Int64)], _ terms: FindingTerms...) -> FindingStory
    {
        var story = FindingStory()
        for terms in terms {
            story.add(FindingRulesEvent.set(terms), in: FindingRules.stream, at: 0)
        }
        for (location, at) in signIns { story.signIn(1, at: at, in: location) }
        return story
    }

    // MARK: - Several countries

    @Test func `two countries within half an hour are found, and name both`() throws {
        let story = story([(zurich, 0), (zurich, 60), (berlin, 1800)])
        let found = try #require(story.found(.severalCountries).first)
        // One sign-in of each country, the newest.
        #expect(story.found(.severalCountries).count == 1)
        #expect(found.positions == [2, 3] && found.level == .medium)
        #expect(found.counts == [.countries: 2])
        #expect(found.places == ["CH N47E008", "DE N52E013"])
        #expect(
            FindingRule.severalCountries.sentence(at: found.places)
                == "A person signed in from several countries within a short time: CH N47E008, DE N52E013."
        )
    }

    @Test func `two countries in a longer time, one country and none are not found`() {
        #expect(story([(zurich, 0), (berlin, 1801)]).found(.severalCountries).isEmpty)
        #expect(story([(zurich, 0), (geneva, 60)]).found(.severalCountries).isEmpty)
        #expect(story([(zurich, 0), (nil, 60)]).found(.severalCountries).isEmpty)
        let unknown = GeoLocation(asn: 3320)
        #expect(story([(unknown, 0), (zurich, 60)]).found(.severalCountries).isEmpty)
    }

    @Test func `two accounts in two countries are not found`() {
        var story = FindingStory()
        story.signIn(1, at: 0, in: zurich)
        story.signIn(2, at: 60, in: newYork)
        #expect(story.found.isEmpty)
    }

    @Test func `a realm that wants three countries is not told of two`() throws {
        let three = try FindingTerms(.severalCountries, ["countries": 3])
        #expect(story([(zurich, 1), (berlin, 60)], three).found(.severalCountries).isEmpty)
        let found = story([(zurich, 1), (berlin, 60), (newYork, 120)], three)
        #expect(try #require(found.found(.severalCountries).first).counts == [.countries: 3])
        let off = try FindingTerms.off(.severalCountries)
        #expect(story([(zurich, 1), (berlin, 60)], off).found(.severalCountries).isEmpty)
    }

    @Test func `a refused sign-in from elsewhere is no presence there`() {
        var story = story([(zurich, 0)])
        let refused = RefusedBrowser(
            method: .passphrase, reason: "invalid_passphrase", account: FindingStory.account(1),
            from: SignInPlace(source: "away", location: newYork))
        story.add(BrowserSessionEvent.refused(refused), in: story.newID(), at: 60)
        #expect(story.found.isEmpty)
    }

    // MARK: - Impossible travel

    /// By the nearest points of the squares it is 6,154 km from Zurich to New York.
    @Test func `a journey that nobody makes so fast is found, and one just slower is not`() throws {
        let distance: Int64 = 6154
        let slow = distance * 3600 / 1000
        let story = story([(zurich, 0), (newYork, slow)])
        let found = try #require(story.found(.impossibleTravel).first)
        #expect(found.positions == [1, 2] && found.level == .medium)
        #expect(found.counts == [.distance: Int(distance), .speed: 1000])
        #expect(found.places == ["CH N47E008", "US N40W074"])
        #expect(
            FindingRule.impossibleTravel.sentence(at: found.places).hasSuffix(
                "time between: CH N47E008, then US N40W074."))
        #expect(
            self.story([(zurich, 0), (newYork, slow + 1)]).found(.impossibleTravel).isEmpty)
    }

    @Test func `a short way is not found, however fast`() {
        // 524 km as the crow flies, and 444 of them for certain.
        let near = GeoLocation(country: "DE", coordinates: .init(latitude: 52.05, longitude: 9.5))
        #expect(story([(zurich, 0), (near, 0)]).found(.impossibleTravel).isEmpty)
        #expect(story([(zurich, 0), (geneva, 1)]).found(.impossibleTravel).isEmpty)
        let farther = GeoLocation(country: "DE", coordinates: .init(latitude: 53.9, longitude: 9.5))
        #expect(story([(zurich, 0), (farther, 0)]).found(.impossibleTravel).count == 1)
    }

    @Test func `each journey is found by itself once the one before is closed`() throws {
        var story = story([(zurich, 0), (newYork, 600)])
        let first = try #require(story.found(.impossibleTravel).first)
        // There and back within the day is one finding.
        story.signIn(1, at: 1200, in: zurich)
        #expect(story.found(.impossibleTravel).count == 1)
        let end = try #require(
            FindingEvent(
                name: "finding.closed",
                fields: ["rule": "impossible_travel", "cause": "administrator"]))
        story.add(end, in: first.id, at: 1300, by: "operator:root")
        story.signIn(1, at: 1400, in: newYork)
        #expect(story.found(.impossibleTravel).count == 2)
    }

    @Test func `thresholds of a realm hold`() throws {
        let strict = try FindingTerms(.impossibleTravel, ["distance": 100, "speed": 300])
        #expect(story([(zurich, 1), (berlin, 3600)], strict).found(.impossibleTravel).count == 1)
        #expect(story([(zurich, 1), (berlin, 3600)]).found(.impossibleTravel).isEmpty)
    }

    @Test func `a log that is read again, and one whose people are erased, have the same findings`()
    {
        let story = story([(zurich, 0), (newYork, 600), (berlin, 1200)])
        #expect(story.found(.impossibleTravel).count == 1)
        #expect(story.found(.severalCountries).count == 1)
        // What is sealed is nowhere in it: `FindingStory` hands the rules open fields alone.
        #expect(story.events.allSatisfy { $0.personal == .none })
        #expect(story.events.first?.open["area"] == "N47E008")
        #expect(story.events.first?.open["coordinates"] == nil)
        var again = FindingEngine()
        for event in story.events where event.name != "finding.raised" { again.take(event) }
        #expect(again.outstanding == story.found)
    }
}

@Suite struct `Places on the Earth` {
    @Test(arguments: [
        ("47.3769,8.5417", "N47E008"), ("-33.8688,151.2093", "S34E151"),
        ("40.7128,-74.0060", "N40W075"), ("0.0000,0.0000", "N00E000"),
        ("-0.0001,-0.0001", "S01W001"), ("90.0000,180.0000", "N89E179"),
        ("-90.0000,-180.0000", "S90W180"),
    ])
    func `a point lies in one square`(text: String, square: String) throws {
        let point = try #require(GeoCoordinates(text))
        #expect(point.description == text)
        #expect(point.square.description == square)
        #expect(GeoSquare(square) == point.square)
    }

    @Test(arguments: ["", "N47", "N47E08", "X47E008", "N47E180", "N90E000", "n47e008", "N-7E008"])
    func `what is no square is none`(text: String) { #expect(GeoSquare(text) == nil) }

    @Test(arguments: ["", "1", "1,2,3", "91,0", "0,181", "nan,0", "x,0", "1,"])
    func `what is no point is none`(text: String) { #expect(GeoCoordinates(text) == nil) }

    /// Distances of places by the haversine formula in another program, less than a square's sides.
    @Test(arguments: [
        ("N47E008", "N40W075", 6222), ("N47E008", "N47E009", 0), ("N47E008", "N48E009", 0),
        ("N00E000", "N00E002", 111), ("N00W180", "N00E179", 0), ("N00E000", "N00E179", 19700),
        ("N89E000", "S90E179", 19792),
    ])
    func `the distance of squares is that of their nearest points`(
        one: String, other: String, kilometres: Int
    ) throws {
        let (one, other) = (try #require(GeoSquare(one)), try #require(GeoSquare(other)))
        #expect(abs(one.leastDistance(to: other) - kilometres) <= 1)
        #expect(one.leastDistance(to: other) == other.leastDistance(to: one))
    }

    @Test func `no two points are nearer than their squares say`() throws {
        var seed: UInt64 = 7
        func random() -> Double {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(seed >> 11) / Double(UInt64(1) << 53)
        }
        for _ in 0..<2000 {
            let points = try (0..<2).map { _ in
                try #require(
                    GeoCoordinates(
                        latitude: random() * 180 - 90, longitude: random() * 360 - 180))
            }
            let least = points[0].square.leastDistance(to: points[1].square)
            #expect(Double(least) <= distance(points[0], points[1]) + 0.01)
        }
    }
}

/// By the haversine formula, in kilometres.
private func distance(_ one: GeoCoordinates, _ other: GeoCoordinates) -> Double {
    func radians(_ point: GeoCoordinates) -> (Double, Double) {
        let numbers = "\(point)".split(separator: ",").compactMap { Double($0) }
        return (numbers[0] * .pi / 180, numbers[1] * .pi / 180)
    }
    let ((north, east), (south, west)) = (radians(one), radians(other))
    let (rise, run) = (sin((north - south) / 2), sin((east - west) / 2))
    return 2 * 6371 * asin(min(1, (rise * rise + cos(north) * cos(south) * run * run).squareRoot()))
}
