internal import JSON

/// What a client that registers itself says of its sector, held against the document that is there
/// (OpenID Connect Registration section 5): else it could join any sector, and learn under which subs
/// others know people.
enum SectorRule {
    static func check(
        _ members: JSONObject, _ places: [String]?
    ) throws(FieldFault) {
        let name = "sector_identifier_uri"
        guard let address = members[name], !address.isNull else { return }
        guard let places else { throw FieldFault(name, .notFound) }
        let redirects = members["redirect_uris"]?.array?.compactMap(\.string) ?? []
        let known = Set(places.map { Array($0.utf8) })
        guard redirects.allSatisfy({ known.contains(Array($0.utf8)) }) else {
            throw FieldFault(name, .missesPlaces(of: "redirect_uris"))
        }
    }
}
