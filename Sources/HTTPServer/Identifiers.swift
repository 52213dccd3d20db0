internal import Synchronization

/// Names requests: 16 hexadecimal digits that never repeat within a process, and start anywhere.
///
/// They tell requests apart in log lines and guard nothing, so that one draw of random bits does
/// for all of them: asking the system each time cost more than reading the request's headers.
final class Identifiers: Sendable {
    private let next = Atomic(UInt64.random(in: 0 ... .max))

    func make() -> String {
        // The finishing steps of SplitMix64: one to one, so that different numbers stay different.
        var bits = next.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        return unsafe String(unsafeUninitializedCapacity: 16) { buffer in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: bits & 0xF)
                unsafe buffer[index] = digit < 10 ? 48 + digit : 87 + digit
                bits >>= 4
            }
            return 16
        }
    }
}
