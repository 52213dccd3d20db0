internal import EventSourcing
internal import JSON

/// Where an address is, as far as a database of addresses knows. What may be known for ever is open, and what
/// is closer than a square of one degree is sealed.
public struct GeoLocation: Sendable, Equatable {
    /// By ISO 3166-1, such as `CH`.
    public let country: String?
    /// Number of the autonomous system: whose network it is.
    public let asn: Int64?
    public let area: GeoSquare?
    public let city: String?
    public let coordinates: GeoCoordinates?

    public init(
        country: String? = nil, asn: Int64? = nil, city: String? = nil,
        coordinates: GeoCoordinates? = nil
    ) {
        self.country = country
        self.asn = asn
        self.city = city
        self.coordinates = coordinates
        area = coordinates?.square
    }

    static let eventFields: [EventField] = [
        .text("country", "Country of the network, by ISO 3166-1, where it was looked up.").optional,
        .integer("asn", "Number of the network's autonomous system, where it was looked up.")
            .optional,
        .text("area", "Square of one degree that the network is in, by its south-western corner.")
            .optional,
        .text("city", "City of the network, where it was looked up.", .personal(.person))
            .optional.ofRequest,
        .text(
            "coordinates", "Latitude and longitude of the network, in degrees.",
            .personal(.person)
        ).optional.ofRequest,
    ]

    var fields: JSONObject {
        var fields: JSONObject = [:]
        fields["country"] = country.map { .string($0) }
        fields["asn"] = asn.map { .integer($0) }
        fields["area"] = area.map { .string($0.description) }
        fields["city"] = city.map { .string($0) }
        fields["coordinates"] = coordinates.map { .string($0.description) }
        return fields
    }

    /// Reads what the log or a read model holds. Nil where it holds nothing of it. What is sealed may be gone.
    init?(recorded fields: JSONObject) {
        country = fields["country"]?.string
        asn = fields["asn"]?.integer
        area = fields["area"]?.string.flatMap(GeoSquare.init)
        city = fields["city"]?.string
        coordinates = fields["coordinates"]?.string.flatMap(GeoCoordinates.init)
        if country == nil, asn == nil, area == nil, city == nil, coordinates == nil { return nil }
    }
}
