internal import HTTP
internal import Identity

// What the domain refuses, as problems: one exhaustive switch for each command, so that a new
// rejection does not compile before its meaning for clients is defined.

extension Problem {
    /// Any fault in one field is a bad request that names the field.
    init(of fault: FieldFault) {
        let field = fault.index.map { "\(fault.field)/\($0)" } ?? fault.field
        let kind: ProblemKind =
            switch fault.reason {
            case .missing, .needed: .missingField
            case .unknown: .unknownField
            case .wrongType, .malformed, .tooLong, .tooMany, .outOfRange, .unsupported, .duplicate,
                .unsafeScheme, .hasFragment, .hasUserInfo, .hasControl, .impossibleHost, .port,
                .ours, .conflicts,
                .privateKey, .mismatch,
                .notFound, .missesPlaces, .notPerApp, .reserved, .formOfSubject:
                .invalidField
            }
        let form = fault.reason == .malformed ? SettingCatalogue.form(of: fault.field) : nil
        self.init(kind, "\(field) \(form ?? fault.reason.sentence).", field: field)
    }
}

extension FieldFault.Reason {
    /// Goes on after the field's name.
    fileprivate var sentence: String {
        switch self {
        case .missing: "is required"
        case .unknown: "is not known here"
        case .wrongType(let type): "must be a \(type.rawValue)"
        case .malformed: "is malformed"
        case .tooLong(let limit): "is longer than \(limit) characters"
        case .tooMany(let limit): "has more than \(limit) elements"
        case .outOfRange(let lowest, let highest): "must be from \(lowest) to \(highest)"
        case .unsupported: "has a value that Urd does not know"
        case .duplicate: "has an element twice"
        case .unsafeScheme: "has a scheme that is not safe here"
        case .hasFragment: "must have no fragment"
        case .hasUserInfo: "must have no user info"
        case .hasControl: "must have no escaped control character"
        case .impossibleHost: "names a host that there cannot be"
        case .port: "names a port that nothing is sent to: it may be 443, or 1024 and above"
        case .ours: "has a name that Urd itself sends"
        case .conflicts(let other): "cannot stand together with \(other)"
        case .needed(let other): "is required because of \(other)"
        case .privateKey: "has a private key in it, which would stay readable in the log"
        case .mismatch: "differs from what is being changed"
        case .notFound: "points to nothing"
        case .missesPlaces(let other): "does not list all \(other)"
        case .notPerApp: "is set for the realm and not for an app"
        case .reserved: "can be set only by an administrator of the realm"
        case .formOfSubject: "has the form of an account's id or pairwise subject"
        }
    }
}

extension NotFound: Refusal where Thing: NotFoundProblem {
    var problem: Problem { Problem(Thing.missing) }
}

/// What a caller can ask for in vain.
protocol NotFoundProblem {
    static var missing: ProblemKind { get }
}

extension Account: NotFoundProblem { static var missing: ProblemKind { .noSuchAccount } }
extension AdminKey: NotFoundProblem { static var missing: ProblemKind { .noSuchKey } }
extension App: NotFoundProblem { static var missing: ProblemKind { .noSuchApp } }
extension BrowserSession: NotFoundProblem { static var missing: ProblemKind { .noSuchSession } }
extension Client: NotFoundProblem { static var missing: ProblemKind { .noSuchClient } }
extension Consent: NotFoundProblem { static var missing: ProblemKind { .noSuchSession } }
extension Host: NotFoundProblem { static var missing: ProblemKind { .noSuchHost } }
extension Providers: NotFoundProblem { static var missing: ProblemKind { .noSuchProvider } }
extension Realm: NotFoundProblem { static var missing: ProblemKind { .noSuchRealm } }
extension Subscription: NotFoundProblem { static var missing: ProblemKind { .noSuchWebhook } }
extension RegistrationToken: NotFoundProblem {
    static var missing: ProblemKind { .noSuchRegistrationToken }
}
extension Session: NotFoundProblem { static var missing: ProblemKind { .noSuchSession } }
extension WebApp: NotFoundProblem { static var missing: ProblemKind { .noSuchApp } }
