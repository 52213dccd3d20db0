public import JSON
public import Values

/// That a realm goes on without what was signed of a tail of its log: the database lost it, and an
/// operator gave it up.
///
/// It stands here because two layers read it: the domain puts it on record, and the sealer goes by the
/// record.
public struct AcceptedLoss: Sendable, Hashable {
    /// The largest checkpoint that is given up, and all smaller ones that are not of this log.
    public let size: Int64
    /// Checkpoints of earlier epochs are given up; what is signed from this one on binds as ever.
    public let epoch: Int
    /// How far the log was sealed when it was accepted, of what it still has of the one that was signed.
    public let sealed: Int64
    /// Where the log ended then.
    public let head: Int64

    public init(size: Int64, epoch: Int, sealed: Int64, head: Int64) {
        self.size = size
        self.epoch = epoch
        self.sealed = sealed
        self.head = head
    }

    public init?(_ fields: JSONObject) {
        guard let size = fields["size"]?.integer, let epoch = fields["epoch"]?.integer,
            let sealed = fields["sealed"]?.integer, let head = fields["head"]?.integer
        else { return nil }
        self.init(size: size, epoch: Int(epoch), sealed: sealed, head: head)
    }

    public var fields: JSONObject {
        [
            "epoch": .integer(Int64(epoch)), "head": .integer(head), "sealed": .integer(sealed),
            "size": .integer(size),
        ]
    }

    /// The wire name of the event that says so.
    public static let eventName = "log.loss_accepted"

    /// The same stream in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0011)
}
