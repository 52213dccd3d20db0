internal import CQREncode

/// A QR code (ISO/IEC 18004): a square of dark and light modules.
///
/// The library chooses the smallest version that holds the bytes. It keeps no state between calls,
/// so that any thread may make codes.
public struct QRCode: Sendable, Hashable {
    /// Enough for every address and enrolment; the largest code would hold thrice as much and no
    /// telephone would read it from a screen.
    public static let mostBytes = 1000
    /// The light border that readers need to find the code.
    public static let quietZone = 4

    /// How much of the code may be unreadable.
    public enum Correction: Sendable, Hashable, CaseIterable {
        case low, medium, quartile, high

        var level: QRecLevel {
            switch self {
            case .low: QR_ECLEVEL_L
            case .medium: QR_ECLEVEL_M
            case .quartile: QR_ECLEVEL_Q
            case .high: QR_ECLEVEL_H
            }
        }
    }

    /// How many modules a side has, without the quiet zone.
    public let side: Int
    /// Row by row from the top; dark is true.
    let modules: [Bool]

    /// `text` is stored as its UTF-8 bytes, which is how readers take it.
    public init(_ text: String, correction: Correction = .medium) throws(Failure) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw Failure(.empty) }
        guard bytes.count <= Self.mostBytes else { throw Failure(.tooLong) }
        let made = unsafe QRcode_encodeData(Int32(bytes.count), bytes, 0, correction.level)
        guard let code = unsafe made else { throw Failure(.library) }
        defer { unsafe QRcode_free(code) }
        let side = Int(unsafe code.pointee.width)
        guard side > 0, let data = unsafe code.pointee.data else { throw Failure(.library) }
        self.side = side
        // The lowest bit is the colour; the others tell what the module is for.
        modules = (0..<side * side).map { unsafe data[$0] & 1 == 1 }
    }

    /// Light outside of the code, so that a renderer needs no case for the quiet zone.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return false }
        return modules[row * side + column]
    }
}
