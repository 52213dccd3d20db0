internal import COpenSSL

/// Owner of what OpenSSL reads certificates of elliptic curves with. It lives as long as the process: keys
/// that were read with it belong to it.
@safe
final class CurveReading: @unchecked Sendable {
    /// Nil where OpenSSL was set up to use something else.
    static let shared = CurveReading()

    let pointer: OpaquePointer

    private init?() {
        guard let made = unsafe shim_curve_context() else { return nil }
        unsafe pointer = unsafe made
    }
}
