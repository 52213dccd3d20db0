internal import CPostgres

/// PostgreSQL, or the way to it, said no.
///
/// `description` is bland, so that it may stand in any log line or answer; `debugDescription` has
/// the server's own words, which may quote rows.
public struct Failure: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The SQLSTATE. Empty where no server answered: the connection is gone.
    public let code: String
    /// Why no connection came to be, for the operator: in the words of libpq or of PostgreSQL, and
    /// without anything that could be a password.
    public let explanation: String?
    /// Why a server is not to be used although it answers: another one has taken its place.
    public let refusal: String?
    /// What in the database cannot be: a column without a value that must have one.
    public let damage: String?
    private let detail: String

    init(
        code: String, detail: String, explanation: String? = nil, refusal: String? = nil,
        damage: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.explanation = explanation
        self.refusal = refusal
        self.damage = damage
    }

    /// The SQLSTATE says the same: a null where there must be none.
    static func damaged(_ column: String) -> Failure {
        Failure(code: "22004", detail: column, damage: "there is no value in \(column)")
    }

    /// Another connection has shown a server that took this one's place.
    public static let leftBehind = Failure.refused("the server was left behind by a failover")

    static func refused(_ why: String) -> Failure {
        Failure(code: "", detail: why, refusal: why)
    }

    static func connection(_ detail: String, explanation: String? = nil) -> Failure {
        Failure(code: "", detail: detail, explanation: explanation)
    }

    /// Nothing more can be had from this connection. What was under way may or may not be done.
    public var isConnectionLost: Bool {
        // 08: connection; 57P01...57P03: the server shuts down, crashed or starts.
        code.isEmpty || code.hasPrefix("08") || code.hasPrefix("57P0")
    }

    /// The world's fault, and worth another try later: resources, locks, a read-only server.
    public var isTransient: Bool {
        isConnectionLost || code.hasPrefix("53") || code.hasPrefix("58") || code == "55P03"
            || code == "57014" || code == "25006" || code.hasPrefix("40")
    }

    /// The server takes no writes: a standby, or a database that was told so.
    public var isReadOnly: Bool { code == "25006" }

    /// It can be read, but there is no room to write anything.
    public var isDiskFull: Bool { code == "53100" }

    public var description: String {
        if isDiskFull { return "the database's disk is full (\(code))" }
        if let refusal { return refusal }
        if let damage { return damage }
        return code.isEmpty ? "the database cannot be reached" : "the database answered \(code)"
    }

    public var debugDescription: String { "\(description): \(detail)" }
}
