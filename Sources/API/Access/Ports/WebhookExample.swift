public import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// An event that never happened, as its schema describes it, for receivers to be tried with.
public struct WebhookExample: Sendable {
    public let event: Recorded
    public let epoch: Int
    public let issuer: String

    /// Nil where there is no such type.
    init?(of type: String, in realm: RealmID, epoch: Int, issuer: String, at now: Timestamp) {
        guard let shape = EventCatalogue.newest.first(where: { $0.name == type }),
            let leaf = LeafHash([UInt8](repeating: 0, count: LeafHash.length))
        else { return nil }
        let open = JSONObject(
            shape.fields.filter { $0.visibility == .open }.map { ($0.name, $0.type.example) })
        event = Recorded(
            realm: realm, position: 1, stream: .zero, version: 1, name: type,
            revision: shape.revision, at: now, command: .zero, subject: nil, actor: "system",
            client: nil, correlation: nil, leaf: leaf, open: open, personal: .none)
        self.epoch = epoch
        self.issuer = issuer
    }
}
