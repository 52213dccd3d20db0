public import EventSourcing

/// A face of a realm: its sub-domain, its name and the settings that it has for itself.
public struct App: StreamState {
    public private(set) var slug = ""
    public private(set) var name = ""
    public private(set) var settings = Settings()
    public private(set) var isDeleted = false

    public init() {}

    public mutating func apply(_ event: AppEvent) {
        switch event {
        case .created(let slug, let name):
            self.slug = slug
            self.name = name
        case .updated(let change):
            slug = change.slug ?? slug
            name = change.name ?? name
            settings.apply(change.settings)
        case .deleted: isDeleted = true
        }
    }

    static func claim(_ slug: String) -> Claim { Claim("app", slug) }

    /// A slug is one label of a host name.
    static func check(slug: String) throws(FieldFault) {
        guard HostName.isLabel(slug.utf8) else { throw FieldFault("slug", .malformed) }
    }

    static func check(name: String) throws(FieldFault) {
        do {
            try TextRule.label(name, limit: 200)
        } catch {
            throw FieldFault("name", error)
        }
    }
}

extension Versioned<App> {
    /// Whether the app was created and not deleted.
    var isAlive: Bool { exists && !state.isDeleted }
}
