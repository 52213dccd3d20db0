/// How long a stream has lasted, and when its client last took something of it.
struct StreamClocks {
    enum Overdue {
        /// The response has reached its maximum duration.
        case life
        /// Its client has taken nothing for too long.
        case stall
    }

    private var endsAt = Nanoseconds.max
    private var longestStall = Nanoseconds.max
    private var looksAt = Nanoseconds.max
    /// The time at which the client last took bytes, or had taken all.
    private var movedAt: Nanoseconds = 0
    private var taken = 0

    init() {}

    /// Streams that began together, as after a restart, do not end together.
    init(beginning now: Nanoseconds, _ limits: Connection.Limits) {
        endsAt = now &+ Nanoseconds(Double(limits.streamLife) * .random(in: 0.9...1.1))
        longestStall = limits.streamStall
        looksAt = now
        movedAt = now
    }

    /// Asks the system for `unsent` a few times within the limit.
    mutating func check(at now: Nanoseconds, sent: Int, unsent: () -> Int) -> Overdue? {
        if now >= endsAt {
            endsAt = .max
            return .life
        }
        guard now >= looksAt else { return nil }
        looksAt = now &+ longestStall / 8
        let unsent = unsent()
        if unsent == 0 || sent - unsent != taken {
            taken = sent - unsent
            movedAt = now
        }
        return now &- movedAt > longestStall ? .stall : nil
    }
}
