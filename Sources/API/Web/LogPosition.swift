public import EventSourcing

/// A place in a realm's log as clients hold it: `realm:epoch:position`. A write answers with it in
/// the header `Urd-Position`; a read that must not be older takes it as `min_position`.
public struct LogPosition: Sendable, Equatable, CustomStringConvertible {
    public let realm: RealmID
    public let epoch: Int
    public let position: Int64

    public init(realm: RealmID, epoch: Int, position: Int64) {
        self.realm = realm
        self.epoch = epoch
        self.position = position
    }

    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let realm = RealmID(String(Substring(parts[0]))),
            let epoch = Int(String(Substring(parts[1]))),
            let position = Int64(String(Substring(parts[2]))), epoch >= 0, position >= 0
        else { return nil }
        self.init(realm: realm, epoch: epoch, position: position)
    }

    public var description: String { "\(realm):\(epoch):\(position)" }

    static let schema = Schema.text(
        5...90,
        .sequence([
            Names.label, .text(":"), .some(Characters("0-9"), 1...9), .text(":"),
            .some(Characters("0-9"), 1...15),
        ]))
}
