import Glibc

/// The system said no: which call, on what, and its reason.
struct SystemFailure: Error, Equatable, CustomStringConvertible {
    let action: String
    let subject: String
    let code: Int32

    /// `errno` is taken at once, before anything else can change it.
    init(_ action: String, _ subject: String, code: Int32 = errno) {
        self.action = action
        self.subject = subject
        self.code = code
    }

    var description: String { "cannot \(action) \(subject): \(String(cString: strerror(code)))" }
}
