public import JSON

/// A person's consent: what a client may know and do, and where tokens for it may be good (RFC
/// 8707).
public struct Agreement: Sendable, Equatable {
    public var scope: [String]
    public var resources: [String]

    public init(scope: [String] = [], resources: [String] = []) {
        self.scope = scope
        self.resources = resources
    }

    public func covers(_ other: Agreement) -> Bool {
        other.scope.allSatisfy(scope.contains) && other.resources.allSatisfy(resources.contains)
    }

    func adding(_ other: Agreement) -> Agreement {
        var all = self
        for name in other.scope where !all.scope.contains(name) { all.scope.append(name) }
        for resource in other.resources where !all.resources.contains(resource) {
            all.resources.append(resource)
        }
        return all
    }
}

/// What a person agreed to while they were shown that the client leads people to this place.
public struct PlacedAgreement: Sendable, Equatable {
    /// The host of a site, or the scheme of an app.
    public var place: String
    public var agreed: Agreement

    public init(_ place: String, _ agreed: Agreement) {
        self.place = place
        self.agreed = agreed
    }

    var json: JSON {
        var members: JSONObject = [
            "place": .string(place), "scope": .texts(agreed.scope),
        ]
        if !agreed.resources.isEmpty { members["resources"] = .texts(agreed.resources) }
        return .object(members)
    }

    /// Nil for a JSON shape that was never written.
    public static func list(_ json: JSON) -> [PlacedAgreement]? {
        guard let entries = json.array else { return nil }
        let read = entries.compactMap { entry -> PlacedAgreement? in
            guard let fields = entry.object, let place = fields["place"]?.string,
                let scope = fields.texts("scope")
            else { return nil }
            return PlacedAgreement(
                place, Agreement(scope: scope, resources: fields.texts("resources") ?? []))
        }
        return read.count == entries.count ? read : nil
    }
}
