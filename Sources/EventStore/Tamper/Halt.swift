import EventSourcing

/// Why a realm is no longer sealed: the log does not fit the signed checkpoint. No checkpoint is signed
/// until it does.
public enum Halt: Error, Equatable, Sendable, CustomStringConvertible {
    /// An event's mac is not the application's.
    case forgedEvent(position: Int64)
    /// A position below the head has no event.
    case missingEvent(position: Int64)
    /// The newest event that was sealed is another one now.
    case changedEvent(position: Int64)
    /// The log ends before what was signed.
    case logIsShorter(size: Int64, head: Int64)
    /// A checkpoint in the database is malformed, or its signature is bad.
    case badCheckpoint(size: Int64)
    /// A checkpoint in the database is not the one that was signed.
    case changedCheckpoint(size: Int64)
    /// The database lost checkpoints that were signed.
    case lostCheckpoints(known: Int64, found: Int64)
    /// The tree in the database does not have the root that was signed.
    case changedTree(size: Int64)
    /// The copy outside the database is malformed, or its signature is bad.
    case badFile
    /// The copy outside the database can't be read.
    case unreadableFile(CheckpointFile.Failure)
    /// The copy outside the database was signed over another log.
    case fileDiffers(size: Int64)
    /// The realm's key made no signature.
    case unableToSign
    /// The realm's keys are wrapped under another master key.
    case otherMasterKey
    /// The realm's keys are not in the database, or cannot be read.
    case unreadableKeys

    /// A stable name for health, metrics and logs.
    public var code: String {
        switch self {
        case .forgedEvent: "forged_event"
        case .missingEvent: "missing_event"
        case .changedEvent: "changed_event"
        case .logIsShorter: "log_is_shorter"
        case .badCheckpoint: "bad_checkpoint"
        case .changedCheckpoint: "changed_checkpoint"
        case .lostCheckpoints: "lost_checkpoints"
        case .changedTree: "changed_tree"
        case .badFile: "bad_file"
        case .unreadableFile: "unreadable_file"
        case .fileDiffers: "file_differs"
        case .unableToSign: "unable_to_sign"
        case .otherMasterKey: "other_master_key"
        case .unreadableKeys: "unreadable_keys"
        }
    }

    /// Whether something was signed that the database does not have: it may have been set back.
    var isLoss: Bool {
        switch self {
        case .logIsShorter, .lostCheckpoints, .changedCheckpoint, .fileDiffers: true
        case .forgedEvent, .missingEvent, .changedEvent, .badCheckpoint, .changedTree, .badFile,
            .unreadableFile, .unableToSign, .otherMasterKey, .unreadableKeys:
            false
        }
    }

    /// The position, or the size, that it is about.
    public var position: Int64? {
        switch self {
        case .forgedEvent(let position), .missingEvent(let position), .changedEvent(let position):
            position
        case .logIsShorter(_, let head): head + 1
        case .badCheckpoint(let size), .changedCheckpoint(let size), .changedTree(let size),
            .fileDiffers(let size):
            size
        case .lostCheckpoints(_, let found): found + 1
        case .badFile, .unreadableFile, .unableToSign, .otherMasterKey, .unreadableKeys: nil
        }
    }

    public var description: String {
        switch self {
        case .forgedEvent(let position):
            "the event at position \(position) was not written by the application"
        case .missingEvent(let position): "there is no event at position \(position)"
        case .changedEvent(let position):
            "the event at position \(position) is not the one that was sealed"
        case .logIsShorter(let size, let head):
            "the log ends at position \(head), but was sealed up to position \(size)"
        case .badCheckpoint(let size):
            "the checkpoint of size \(size) in the database has no good signature"
        case .changedCheckpoint(let size):
            "the checkpoint of size \(size) in the database is not the one that was signed"
        case .lostCheckpoints(let known, let found):
            "the checkpoint of size \(known) is gone from the database, its last one has size \(found)"
        case .changedTree(let size):
            "the tree in the database does not have the root that was signed at size \(size)"
        case .badFile: "the checkpoint file has no good signature"
        case .unreadableFile(let failure): "the checkpoint file can't be read: \(failure)"
        case .fileDiffers(let size):
            "the checkpoint file was signed over another log of size \(size)"
        case .unableToSign: "the realm's key made no signature"
        case .otherMasterKey: LogFailure.otherMasterKey.description
        case .unreadableKeys: "the realm's keys are gone from the database, or cannot be read"
        }
    }
}
