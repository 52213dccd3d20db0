internal import Values

/// What an engine has come to, as bytes: another node goes on from there.
extension WhatIfEngine {
    public var state: [UInt8] {
        var writer = StateWriter()
        writer.write(3)
        writer.write(memory.accounts) { writer, account in
            writer.write(account.id)
            writer.write(account.isWhole ? 1 : 0)
            writer.write(account.roles.map { _ in 1 } ?? 0)
            writer.write(account.roles ?? []) { $0.write($1) }
            writer.write(account.factors) { $0.write($1) }
            writer.write(account.devices) { writer, seen in
                writer.write(seen.device)
                writer.write(seen.since)
            }
            writer.write(account.tries) { $0.write($1) }
            writer.write(account.open) { writer, open in
                writer.write(open.session)
                writer.write(open.expiresAt)
                writer.write(open.places) { $0.write($1) }
            }
        }
        writer.write(memory.sessions.sorted { $0.key < $1.key }) { writer, entry in
            let session = entry.value
            writer.write(entry.key)
            writer.write(Int64(session.account ?? -1))
            for time in [session.openedAt, session.usedAt, session.endedAt] {
                writer.write(time?.microseconds ?? .min)
            }
            writer.write(session.expiresAt)
            writer.write(session.isWanted ? 1 : 0)
        }
        writer.write(memory.pages.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value.method)
            writer.write(entry.value.expiresAt)
        }
        writer.write(Int64(memory.sinceForgetting))
        tally.write(to: &writer)
        return writer.bytes
    }

    /// Goes on from a state of an engine with the same policy; false where it cannot be read.
    public mutating func resume(_ state: [UInt8]) -> Bool {
        var reader = StateReader(state)
        guard reader.number() == 3 else { return false }
        var memory = PolicyMemory(
            self.memory.policy, isWhole: self.memory.isWhole, since: self.memory.since)
        memory.accounts = reader.list { reader in
            let id = reader.id()
            let isWhole = reader.number() == 1
            let knowsRoles = reader.number() == 1
            let roles = reader.list { $0.text() }
            return PolicyMemory.Account(
                id: id, isWhole: isWhole, roles: knowsRoles ? roles : nil,
                factors: reader.list { $0.id() },
                devices: reader.list { reader in
                    PolicyMemory.Seen(device: reader.text(), since: reader.number())
                },
                tries: reader.list { $0.number() },
                open: reader.list { reader in
                    PolicyMemory.Open(
                        session: reader.id(), expiresAt: reader.number(),
                        places: reader.list { $0.id() })
                })
        }
        for (place, account) in memory.accounts.enumerated() { memory.places[account.id] = place }
        let sessions = reader.list { reader -> (UUID, PolicyMemory.Session) in
            let (id, account) = (reader.id(), Int(reader.number()))
            let times = (0..<3).map { _ in reader.time() }
            let expiresAt = reader.number()
            return (
                id,
                PolicyMemory.Session(
                    account: account < 0 ? nil : account, openedAt: times[0], usedAt: times[1],
                    endedAt: times[2], expiresAt: expiresAt, isWanted: reader.number() == 1)
            )
        }
        memory.sessions = Dictionary(sessions, uniquingKeysWith: { $1 })
        let pages = reader.list { reader in
            (
                reader.id(),
                PolicyMemory.Page(method: reader.text(), expiresAt: reader.number())
            )
        }
        memory.pages = Dictionary(pages, uniquingKeysWith: { $1 })
        memory.sinceForgetting = Int(reader.number())
        let tally = WhatIfTally(memory.policy, &reader)
        guard reader.isAtEnd,
            memory.sessions.values.allSatisfy({ ($0.account ?? -1) < memory.accounts.count })
        else { return false }
        (self.memory, self.tally) = (memory, tally)
        return true
    }
}

extension WhatIfTally {
    fileprivate func write(to writer: inout StateWriter) {
        for counts in [signIns, refreshed, rules, lifetimes, named] {
            writer.write(counts) { $0.write($1) }
        }
        writer.write(endedSessions)
        writer.write(days.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value.outcomes) { $0.write($1) }
            writer.write(entry.value.refreshes) { $0.write($1) }
        }
        writer.write(accounts) { writer, account in
            writer.write(account.outcomes) { $0.write($1) }
            for number in [account.refusing, account.firstRefused, account.lastRefused] {
                writer.write(number)
            }
        }
    }

    fileprivate init(_ policy: SignInPolicy, _ reader: inout StateReader) {
        self.init(policy)
        signIns = reader.counts(like: signIns)
        refreshed = reader.counts(like: refreshed)
        rules = reader.counts(like: rules)
        lifetimes = reader.counts(like: lifetimes)
        named = reader.counts(like: named)
        endedSessions = reader.number()
        let days = reader.list { reader in
            let (day, empty) = (reader.number(), Day())
            return (
                day,
                Day(
                    outcomes: reader.counts(like: empty.outcomes),
                    refreshes: reader.counts(like: empty.refreshes))
            )
        }
        self.days = Dictionary(days, uniquingKeysWith: { $1 })
        accounts = reader.list { reader in
            Account(
                outcomes: reader.counts(like: Account().outcomes), refusing: reader.number(),
                firstRefused: reader.number(), lastRefused: reader.number())
        }
    }
}

/// Numbers, ids, texts and lists one after the other.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    /// In groups of seven bits, small ones in one byte; the sign is the lowest bit.
    mutating func write(_ number: Int64) {
        var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(_ id: UUID) { bytes += id.bytes }

    mutating func write(_ text: String) {
        write(Int64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func write<Element>(
        _ list: [Element], _ writeElement: (inout StateWriter, Element) -> Void
    ) {
        write(Int64(list.count))
        for element in list { writeElement(&self, element) }
    }
}

/// Reads what `StateWriter` wrote; past the end it reads zeros, and `isAtEnd` is false.
struct StateReader {
    private let bytes: [UInt8]
    private var position = 0
    private var isBroken = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count && !isBroken }

    mutating func number() -> Int64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 70 {
            let byte = bytes[position]
            position += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: number >> 1) ^ -Int64(number & 1) }
            shift += 7
        }
        isBroken = true
        return 0
    }

    mutating func time() -> Timestamp? {
        let microseconds = number()
        return microseconds == .min ? nil : Timestamp(microseconds: microseconds)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else {
            isBroken = true
            return []
        }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    mutating func id() -> UUID { UUID(bytes: Array(take(16))) ?? .zero }

    mutating func text() -> String {
        String(decoding: take(Int(clamping: number())), as: UTF8.self)
    }

    mutating func list<Element>(_ readElement: (inout StateReader) -> Element) -> [Element] {
        let count = number()
        var list: [Element] = []
        while Int64(list.count) < count, !isBroken { list.append(readElement(&self)) }
        return list
    }

    /// Reads as many counters as another list has.
    mutating func counts(like other: [Int64]) -> [Int64] {
        let counts = list { $0.number() }
        if counts.count != other.count { isBroken = true }
        return counts.count == other.count ? counts : other
    }
}
