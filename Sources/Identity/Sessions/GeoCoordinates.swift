/// A point on the Earth, to a ten-thousandth of a degree: some ten metres.
public struct GeoCoordinates: Sendable, Equatable, CustomStringConvertible {
    private static let parts = 10_000

    /// In ten-thousandths of a degree, north and east.
    private let north: Int
    private let east: Int

    private init?(north: Int, east: Int) {
        guard abs(north) <= 90 * Self.parts, abs(east) <= 180 * Self.parts else { return nil }
        self.north = north
        self.east = east
    }

    /// Nil where there is no such point.
    public init?(latitude: Double, longitude: Double) {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        self.init(
            north: Int((latitude * Double(Self.parts)).rounded()),
            east: Int((longitude * Double(Self.parts)).rounded()))
    }

    /// Reads `47.3769,8.5417`.
    public init?(_ text: String) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Double(String($0))
        }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
            return nil
        }
        self.init(latitude: latitude, longitude: longitude)
    }

    public var description: String { "\(Self.text(north)),\(Self.text(east))" }

    private static func text(_ number: Int) -> String {
        let digits = String(parts + abs(number) % parts).dropFirst()
        return "\(number < 0 ? "-" : "")\(abs(number) / parts).\(digits)"
    }

    /// The square of one degree around the coordinates.
    public var square: GeoSquare {
        GeoSquare(south: Self.degree(north, below: 90), west: Self.degree(east, below: 180))
    }

    /// The last one ends with the pole, and with the 180th meridian.
    private static func degree(_ number: Int, below limit: Int) -> Int {
        let whole = number >= 0 ? number / parts : -((parts - 1 - number) / parts)
        return min(whole, limit - 1)
    }
}

/// A square of one degree of latitude and of longitude: some hundred kilometres in each direction.
public struct GeoSquare: Sendable, Equatable, CustomStringConvertible {
    /// Degrees of the corner in the south-west.
    let south: Int
    let west: Int

    init(south: Int, west: Int) {
        self.south = south
        self.west = west
    }

    /// Reads `N47E008`, as maps and elevation models name such squares.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[0] == UInt8(ascii: "N") || bytes[0] == UInt8(ascii: "S"),
            bytes[3] == UInt8(ascii: "E") || bytes[3] == UInt8(ascii: "W"),
            let north = Self.number(bytes[1...2]), let east = Self.number(bytes[4...6])
        else { return nil }
        south = bytes[0] == UInt8(ascii: "N") ? north : -north
        west = bytes[3] == UInt8(ascii: "E") ? east : -east
        guard (-90...89).contains(south), (-180...179).contains(west) else { return nil }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    public var description: String {
        let north = String(100 + abs(south)).dropFirst()
        let east = String(1000 + abs(west)).dropFirst()
        return "\(south < 0 ? "S" : "N")\(north)\(west < 0 ? "W" : "E")\(east)"
    }

    /// Kilometres between their nearest points at least: two places in them may be farther apart, and are never
    /// nearer.
    public func leastDistance(to other: GeoSquare) -> Int {
        let north = Double(max(0, abs(south - other.south) - 1)) * .pi / 180
        let apart = abs(west - other.west)
        let east = Double(max(0, min(apart, 360 - apart) - 1)) * .pi / 180
        // The haversine of the distance, where parallels are shortest.
        let (rise, run) = (sine(north / 2), sine(east / 2))
        let haversine = rise * rise + narrowest * other.narrowest * run * run
        return Int(2 * Self.radius * arcSine(min(1, haversine.squareRoot())))
    }

    /// The cosine of the latitude at which the square is narrowest.
    private var narrowest: Double {
        let latitude = Double(max(abs(south), abs(south + 1)))
        return max(0, sine((90 - latitude) * .pi / 180))
    }

    /// Of the Earth, in kilometres.
    private static let radius = 6371.0
}

// Their series, so that every machine finds the same: the log is read again elsewhere.

/// The sine of an angle from 0 to half a turn.
private func sine(_ angle: Double) -> Double {
    var (sum, term) = (angle, angle)
    for index in 1...14 {
        term *= -angle * angle / Double(2 * index * (2 * index + 1))
        sum += term
    }
    return sum
}

/// The arc sine of a value from 0 to 1.
private func arcSine(_ value: Double) -> Double {
    // Halving the angle brings the value near zero, where few terms say it.
    var (small, halvings) = (value, 1.0)
    for _ in 0..<4 {
        small = small / (2 * (1 + (1 - small * small).squareRoot())).squareRoot()
        halvings *= 2
    }
    var (sum, power, factor) = (small, small, 1.0)
    for index in 1...8 {
        let odd = Double(2 * index - 1)
        factor *= odd / (odd + 1)
        power *= small * small
        sum += factor * power / (odd + 2)
    }
    return sum * halvings
}
