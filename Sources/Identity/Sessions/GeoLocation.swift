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
}

extension Field<GeoLocation> {
    /// Nil for an unknown location. Sealed members may be erased.
    static let location = mapped(
        .optional(
            .text("country", "Country of the network, by ISO 3166-1, where it was looked up.")),
        .optional(
            .integer("asn", "Number of the network's autonomous system, where it was looked up.")),
        .optional(.area), .optional(.city), .optional(.coordinates),
        write: { ($0.country, $0.asn, $0.area, $0.city, $0.coordinates) },
        read: { GeoLocation(country: $0, asn: $1, area: $2, city: $3, coordinates: $4) })
}

extension GeoLocation {
    fileprivate init?(
        country: String?, asn: Int64?, area: GeoSquare?, city: String?,
        coordinates: GeoCoordinates?
    ) {
        if country == nil, asn == nil, area == nil, city == nil, coordinates == nil { return nil }
        self.country = country
        self.asn = asn
        self.area = area
        self.city = city
        self.coordinates = coordinates
    }
}

extension Field<GeoSquare> {
    fileprivate static let area = mapped(
        .text("area", "Square of one degree that the network is in, by its south-western corner."),
        write: \.description, read: { GeoSquare($0) })
}

extension Field<String> {
    fileprivate static let city = Field(
        .text("city", "City of the network, where it was looked up.", .personal(.person))
            .ofRequest, write: { .string($0) }, read: \.string)
}

extension Field<GeoCoordinates> {
    fileprivate static let coordinates = Field(
        .text(
            "coordinates", "Latitude and longitude of the network, in degrees.",
            .personal(.person)
        ).ofRequest, write: { .string($0.description) },
        read: { $0.string.flatMap(GeoCoordinates.init) })
}
