public import Identity
internal import JSON
internal import Postgres
public import Values

/// A web app or a konnector of a realm.
public struct WebAppView: Sendable, Equatable {
    public var id: UUID
    /// As its last event has it.
    public var card: WebAppCard
    public var createdAt: Timestamp

    public init(id: UUID, card: WebAppCard, createdAt: Timestamp) {
        self.id = id
        self.card = card
        self.createdAt = createdAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let card = rows.object(row, 2).flatMap(WebAppCard.init(recorded:)) else {
            return nil
        }
        self.init(id: rows.identifier(row, 1), card: card, createdAt: rows.instant(row, 3))
    }
}

extension WebAppView {
    private static let columns = Columns(
        of: "web_apps", key: "web_app", "m.card, m.registered_at", Self.init(_:_:))
    /// Removed web apps are not found.
    public static let byID: Question<UUID, WebAppView?> = columns.find(
        "web_app_by_id", where: "m.web_app = $2"
    ).first(Parameters.init)
    public static let bySlug: Question<(slug: String, kind: WebAppKind), WebAppView?> =
        columns.find("web_app_by_slug", where: "m.slug = $2 and m.kind = $3").first {
            Parameters(in: $0, $1.slug, $1.kind.rawValue)
        }
    /// By the host of its origin, with its port if that is not the usual one.
    public static let byOrigin: Question<String, WebAppView?> = columns.find(
        "web_app_by_origin", where: "m.origin_host = $2"
    ).first(Parameters.init)
    public static let page = columns.page("web_app_page").page()
}
