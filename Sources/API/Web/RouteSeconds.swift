internal import HTTP
internal import Synchronization
internal import Telemetry

/// How long requests took, by route: each series is found by what names it, without writing that out for
/// every request.
final class RouteSeconds: Sendable {
    private struct Name: Hashable {
        let route: String
        let method: Method
        let hundreds: Int
    }

    private let family: Family<Histogram>
    private let known = Mutex<[Name: Histogram]>([:])

    init(_ family: Family<Histogram>) {
        self.family = family
    }

    func of(_ route: String, _ method: Method, _ status: Status) -> Histogram {
        let name = Name(route: route, method: method, hundreds: status.code / 100)
        return known.withLock { known in
            if let series = known[name] { return series }
            let series = family[route, method.rawValue, "\(name.hundreds)xx"]
            // The family holds only so many, and so does this.
            known[name] = series
            return series
        }
    }
}
