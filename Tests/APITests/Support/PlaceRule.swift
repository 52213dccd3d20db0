import EventSourcing
import Identity
import JSON
import Testing

@testable import API

/// What the worlds of these tests know of every address.
let knownPlace = GeoLocation(
    country: "CH", asn: 3303, city: "Zurich",
    coordinates: GeoCoordinates(latitude: 47.3769, longitude: 8.5417))

/// Events of sign-ins, whatever the way: what came in a request says where from (docs/analysts/place.md).
let placedEvents: Set<String> = [
    "session.opened", "session.refused", "browser.opened", "browser.refused", "approval.requested",
    "approval.given",
]

extension WatchedLog {
    /// Whatever a test does: no way of signing in may leave the place out.
    func checkPlaces(of commit: Commit) {
        guard commit.origin.address != nil, isPlaced else { return }
        for event in commit.events where mustTell(event) {
            #expect(
                event.open["source"] != nil && event.open["country"] == "CH"
                    && event.open["asn"] == 3303 && event.open["area"] == "N47E008"
                    && event.request == ["city": "Zurich", "coordinates": "47.3769,8.5417"],
                "\(event.name) by \(event.open["method"]?.string ?? "–")")
        }
    }

    private func mustTell(_ event: NewEvent) -> Bool {
        if placedEvents.contains(event.name) { return true }
        let isReuse = ["reuse", "code_reuse"].contains(event.open["reason"]?.string)
        return event.name == "session.ended" && isReuse
    }
}
