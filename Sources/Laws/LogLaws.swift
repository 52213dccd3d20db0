import Values

/// Laws of the log itself.
extension Law {
    static func ofLog() -> [Law] {
        let commands = Commands()
        let erased = Memory<Bool>()
        return [
            Law(1, "The epoch of a realm never falls."),
            Law(
                2,
                """
                A stream's versions are 1, 2, 3 …, and its first event is one that may begin it.
                """),
            Law(
                27, "No personal field is sealed for a subject after it was erased.",
                [
                    Check("account.erased", "realm.subject_erased") { _, event in
                        let isAccount = event.is("account.erased")
                        let subject =
                            isAccount ? event.stream : event.data.identifier("subject") ?? .zero
                        erased.begin(true, subject, at: event.second)
                    },
                    Check { past, event in
                        guard event.logged.isSealed, let subject = event.logged.subject else {
                            return
                        }
                        if erased[subject] != nil {
                            past.broken(
                                27,
                                "\(event.type) is sealed for subject \(subject), which was erased")
                        } else if !past.isWhole {
                            past.unknown(27)
                        }
                    },
                ]),
            Law(
                32, "A command's events are together, once.",
                [
                    Check { past, event in
                        guard commands.isNext(event.logged) else { return }
                        if let before = commands.note(event.logged) {
                            past.broken(
                                32,
                                "command \(event.logged.command) had its events at \(before)")
                        } else if !past.isWhole, !commands.isFull {
                            past.unknown(32)
                        }
                    }
                ]),
            Law(33, "Times of a stream never run back."),
            Law(40, "A checkpoint's size and root are those of the log."),
        ]
    }
}

extension Past {
    /// Laws 2 and 33.
    mutating func note(_ event: Event, mayBegin: Bool, until: UInt32?) {
        let logged = event.logged
        let before = streams.note(
            event.stream, version: logged.version, at: logged.at, until: until, now: event.second)
        if before.version == 0 {
            if logged.version != 1 {
                if streams.hasForgotten || !isWhole { unknown(33) }
                missing(
                    2, mayBeForgotten: streams.hasForgotten,
                    "version \(logged.version) of stream \(event.stream) follows none")
            } else if !mayBegin {
                broken(2, "a stream begins with \(event.type)")
            }
            return
        }
        if logged.version != before.version + 1 {
            broken(
                2, "version \(logged.version) of stream \(event.stream) follows \(before.version)")
        }
        if logged.at < before.at {
            broken(33, "stream \(event.stream) runs back by \(before.at - logged.at) µs")
        }
    }
}

/// The positions of the last million commands, and of up to a million more.
private final class Commands {
    private static let kept: Int64 = 1_000_000
    private var current: UUID?
    private var number: Int64 = 0
    private var notes = NoteTable()

    /// Whether a million commands are known.
    var isFull: Bool { number > Self.kept }

    /// Whether an event is not of the command that is under way.
    func isNext(_ event: LoggedEvent) -> Bool { event.command != current }

    /// The position of the same command before.
    func note(_ event: LoggedEvent) -> Int64? {
        current = event.command
        number += 1
        let before = notes.note(
            event.command, version: 1, at: event.position,
            until: UInt32(clamping: number + Self.kept), now: number)
        return before.version == 0 ? nil : before.at
    }
}
