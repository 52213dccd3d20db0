public import EventSourcing
public import Values

extension LeafHash {
    /// Where no tree is made: another one for each event, the same each time, and no hash of anything.
    public static func standIn(
        _ stream: UUID, _ version: Int, in realm: RealmID = .system, by command: UUID = .zero
    ) -> LeafHash {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        let parts =
            realm.name.utf8.map { UInt64($0) } + [
                stream.high, stream.low, UInt64(version), command.high, command.low,
            ]
        for part in parts { state = mixed(state ^ part) }
        let words = (0..<4).map { number in mixed(state &+ UInt64(number)) }
        guard
            let leaf = LeafHash(
                words.flatMap { word in
                    (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
                })
        else { preconditionFailure("Four words have 32 bytes.") }
        return leaf
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
