import Postgres

/// A command could not do what it was asked for; the text is for the person at the terminal.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
    let what: String
    let remedy: String?
    let code: ExitCode

    init(_ what: String, remedy: String? = nil, code: ExitCode = .failure) {
        self.what = what
        self.remedy = remedy
        self.code = code
    }

    init(_ failure: Postgres.Failure, remedy: String? = nil) {
        self.init(
            failure.description + (failure.explanation.map { ": \($0)" } ?? ""), remedy: remedy)
    }

    var description: String { remedy.map { "\(what)\n\($0)" } ?? what }
}

/// What the shell gets to see.
struct ExitCode: Equatable, Sendable {
    let rawValue: Int32

    init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    static let success = ExitCode(0)
    /// A valid request failed, or a check found a problem.
    static let failure = ExitCode(1)
    /// It was asked wrongly: an unknown option, a missing word, a setting that cannot be.
    static let usage = ExitCode(2)
    /// A comparison found a difference.
    static let changes = ExitCode(2)
}
