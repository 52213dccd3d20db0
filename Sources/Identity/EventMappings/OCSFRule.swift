/// Which OCSF record an event of one type becomes, and when.
public struct OCSFRule: Sendable, Equatable {
    /// Of the schema's categories Findings, Identity & Access Management and Application Activity.
    public enum Class: Int64, Sendable {
        case detectionFinding = 2004
        case accountChange = 3001
        case authentication = 3002
        case entityManagement = 3004
        case userAccess = 3005
        case apiActivity = 6003
    }

    /// `status_id`. Of a finding they say how far it is: new, or over.
    public enum Status: Int64, Sendable {
        case success = 1
        case failure = 2
        case resolved = 4
        /// The outcome is not decided yet.
        case other = 99
    }

    public enum Condition: String, Sendable {
        case always
        case forPassphraseReset = "for a passphrase reset"
        case forAnotherPurpose = "for another purpose"
        case ifNeeded = "if needed"
        case ifNotNeeded = "if not needed"
        /// Another acts as the person.
        case ifImpersonated = "if impersonated"
        case unlessImpersonated = "unless impersonated"
        /// The object is new.
        case ifFirst = "if first"
        case ifLater = "if later"
        /// There are privileges that the account did not have before, or none that it lost.
        case ifPrivilegesNew = "if privileges are new"
        case ifPrivilegesGone = "if privileges are gone"
    }

    /// `type_id` of a managed entity, where there is one for it.
    public enum Entity: Int64, Sendable {
        case device = 1
        case policy = 5
        case other = 99
    }

    public let condition: Condition
    public let recordClass: Class
    /// `activity_id`, which means something else in each class.
    public let activity: Int64
    public let status: Status
    /// `factor_type_id` of the authentication factor that it is about.
    public let factor: Int64?
    public let entity: Entity
    /// Whether a receiver gets it only where it asks for it: there are very many.
    public let isOnRequest: Bool

    init(
        _ recordClass: Class, _ activity: Int64, _ status: Status = .success,
        when condition: Condition = .always, factor: Int64? = nil, entity: Entity = .other,
        onRequest: Bool = false
    ) {
        self.condition = condition
        self.recordClass = recordClass
        self.activity = activity
        self.status = status
        self.factor = factor
        self.entity = entity
        isOnRequest = onRequest
    }

    static func account(
        _ activity: Int64, _ status: Status = .success, factor: Int64? = nil
    ) -> OCSFRule {
        OCSFRule(.accountChange, activity, status, factor: factor)
    }

    static func authentication(
        _ activity: Int64, _ status: Status = .success, factor: Int64? = nil
    ) -> OCSFRule {
        OCSFRule(.authentication, activity, status, factor: factor)
    }

    static func entity(_ activity: Int64, _ entity: Entity = .other) -> OCSFRule {
        OCSFRule(.entityManagement, activity, entity: entity)
    }

    /// `type_uid`.
    public var type: Int64 { recordClass.rawValue * 100 + activity }
}
