/// Why a projection was not built, checked or switched.
public enum ProjectionFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case unknown(String)
    /// Another process is building this projection.
    case busy(String)
    /// It cannot apply this event. The live build, if there is one, was left as it is.
    case halted(String, realm: String, position: Int64, why: String)
    /// There is no build to go back to.
    case nothingToRollBack(String)
    /// Writers were always ahead.
    case notCaughtUp(String)

    public var description: String {
        switch self {
        case .unknown(let name): "there is no projection named \(name)"
        case .busy(let name): "\(name) is being built by another process"
        case .halted(let name, let realm, let position, let why):
            "\(name) cannot apply event \(position) of realm \(realm): \(why)"
        case .nothingToRollBack(let name): "\(name) has no earlier build"
        case .notCaughtUp(let name): "\(name) could not be brought up to the log"
        }
    }
}

/// How far a rebuild is.
public enum ProjectionProgress: Sendable, Equatable {
    /// Events applied, of how many.
    case filling(Int64, of: Int64)
    case finishing
    case catchingUp
    case comparing
    case switching
    /// The switch needs a lock that these hold: they read what is to be switched.
    case waiting(for: [LockHolder])
}
