public import HTTP

/// Every reason for which a request may be refused. The raw value is part of the problem's type
/// (`/problems/<raw value>`): once published, it never changes its meaning.
public enum ProblemKind: String, CaseIterable, Sendable {
    case malformedJSON = "malformed-json"
    case missingField = "missing-field"
    case unknownField = "unknown-field"
    case invalidField = "invalid-field"
    case missingParameter = "missing-parameter"
    case unknownParameter = "unknown-parameter"
    case repeatedParameter = "repeated-parameter"
    case invalidParameter = "invalid-parameter"
    case unexpectedBody = "unexpected-body"

    case unauthenticated = "unauthenticated"
    case forbidden = "forbidden"

    case noSuchRoute = "no-such-route"
    case noSuchRealm = "no-such-realm"
    case noSuchHost = "no-such-host"
    case noSuchApp = "no-such-app"
    case noSuchClient = "no-such-client"
    case noSuchKey = "no-such-key"
    case noSuchEvent = "no-such-event"
    case noSuchCheckpoint = "no-such-checkpoint"
    case noSuchProblem = "no-such-problem"

    case methodNotAllowed = "method-not-allowed"

    case realmExists = "realm-exists"
    case realmDisabled = "realm-disabled"
    case reservedRealm = "reserved-realm"
    case hostTaken = "host-taken"
    case appExists = "app-exists"
    case clientExists = "client-exists"
    case clientHasNoSecret = "client-has-no-secret"
    case positionLost = "position-lost"

    case unsupportedMediaType = "unsupported-media-type"

    case idempotencyKeyReused = "idempotency-key-reused"

    case internalError = "internal-error"
    case logDamaged = "log-damaged"

    case busy = "busy"
    case unavailable = "unavailable"
    case contended = "contended"
    case positionNotReached = "position-not-reached"
}

extension ProblemKind {
    public var type: String { "/problems/\(rawValue)" }

    public var status: Status {
        switch self {
        case .malformedJSON, .missingField, .unknownField, .invalidField, .missingParameter,
            .unknownParameter, .repeatedParameter, .invalidParameter, .unexpectedBody:
            .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .noSuchRoute, .noSuchRealm, .noSuchHost, .noSuchApp, .noSuchClient, .noSuchKey,
            .noSuchEvent, .noSuchCheckpoint, .noSuchProblem:
            .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .realmExists, .realmDisabled, .reservedRealm, .hostTaken, .appExists,
            .clientExists, .clientHasNoSecret, .positionLost:
            .conflict
        case .unsupportedMediaType: .unsupportedMediaType
        case .idempotencyKeyReused: .unprocessable
        case .internalError, .logDamaged: .internalError
        case .busy, .unavailable, .contended, .positionNotReached: .serviceUnavailable
        }
    }

    /// One short sentence that is the same for every problem of this kind.
    public var title: String {
        switch self {
        case .malformedJSON: "The body is not JSON as Urd reads it."
        case .missingField: "A required member is missing."
        case .unknownField: "The body has a member that this operation does not know."
        case .invalidField: "A member has a value that it cannot have."
        case .missingParameter: "A required parameter is missing."
        case .unknownParameter: "The query has a parameter that this operation does not know."
        case .repeatedParameter: "A parameter is given more than once."
        case .invalidParameter: "A parameter has a value that it cannot have."
        case .unexpectedBody: "This operation takes no body."
        case .unauthenticated: "This needs a valid admin key."
        case .forbidden: "The admin key has no right to this."
        case .noSuchRoute: "There is nothing at this path."
        case .noSuchRealm: "There is no such realm."
        case .noSuchHost: "The realm has no such host."
        case .noSuchApp: "The realm has no such app."
        case .noSuchClient: "The realm has no such client."
        case .noSuchKey: "There is no such admin key."
        case .noSuchEvent: "The log has no event at this position."
        case .noSuchCheckpoint: "The log has not been sealed that far yet."
        case .noSuchProblem: "There is no such kind of problem."
        case .methodNotAllowed: "This path does not know the method."
        case .realmExists: "A realm of this name exists."
        case .realmDisabled: "The realm is disabled."
        case .reservedRealm: "The realm's name belongs to Urd itself."
        case .hostTaken: "The host belongs to a realm."
        case .appExists: "An app of this name exists."
        case .clientExists: "A client of this id exists."
        case .clientHasNoSecret: "The client has no secret."
        case .positionLost: "The position is of another log, or of an earlier life of this one."
        case .unsupportedMediaType: "The body must be JSON."
        case .idempotencyKeyReused: "The idempotency key was used for another request."
        case .internalError: "Something is wrong on our side."
        case .logDamaged: "The log holds something that cannot be read."
        case .busy: "Too much is being asked at once."
        case .unavailable: "The database cannot be reached."
        case .contended: "Others keep changing the same thing."
        case .positionNotReached: "The list has not come as far as was asked."
        }
    }
}
