import Values

/// Laws of sessions and browsers.
extension Law {
    static func ofSessions() -> [Law] {
        let lines = Memory<Line> { isPast($0.expiresAt, $1) }
        return [
            Law(
                8,
                """
                A session is opened before it is refreshed, nothing of it happens after it ended, \
                and no refresh comes after its end of life.
                """,
                [
                    Check(
                        "session.refreshed", "session.ended", "session.detached", look: goOn)
                ]),
            Law(
                9,
                """
                A refresh token's number is the next one; it came of the living token, or of the \
                one before it where that was sent again.
                """,
                [Check("session.refreshed", look: refresh)]),
            Law(
                10,
                """
                A session is opened, refreshed or signed in to for an account that is alive, \
                enabled and not to be deleted, and in an app that is there.
                """,
                [
                    Check("account.registered") { past, event in
                        past.accounts.begin(Account(), event.stream, at: event.second)
                    },
                    Check("app.created", "app.updated", "app.deleted", look: changeApp),
                    Check("session.opened") { past, event in
                        open(&past, event, lines)
                    },
                ]),
            Law(
                14,
                """
                A session ends with the browser or session that it came of: a browser that was \
                signed out, or in which another account is signed in, opens no session, and a \
                session whose origin ended is not refreshed.
                """,
                [
                    Check("browser.opened") { past, event in
                        let browser = Opened(event.data)
                        past.browsers.begin(browser, event.stream, at: event.second)
                        past.judge(browser, "a browser that is signed in")
                        guard let line = event.data.identifier("line") else { return }
                        lines.begin(
                            Line(newest: event.stream, expiresAt: browser.expiresAt), line,
                            at: event.second)
                    },
                    Check("browser.ended") { past, event in
                        if past.browsers[event.stream] == nil {
                            past.missing(
                                14, mayBeForgotten: past.browsers.hasForgotten,
                                "a browser is signed out that was never opened")
                        }
                        past.browsers[event.stream]?.hasEnded = true
                    },
                ]),
            Law(
                23,
                """
                A session is opened and refreshed only within the life of the sessions that it \
                came of or hangs on.
                """,
                [Check("session.opened", "session.refreshed", look: judgeLife)]),
        ]
    }

    private static func open(_ past: inout Past, _ event: Event, _ lines: Memory<Line>) {
        let session = Opened(event.data)
        past.sessions.begin(session, event.stream, at: event.second)
        past.judge(session, "a session that is opened")
        if let app = event.data.identifier("app") {
            switch past.apps[app] {
            case true?: break
            case false?: past.broken(10, "a session is opened in an app that is deleted")
            case nil: past.missing(10, "a session is opened in an app that was never made")
            }
        }
        guard let id = session.browser else { return }
        // Another sign-in of the account in the same browser goes on with its line, named by the first one.
        let newest = past.browsers[lines[id]?.newest]
        guard let browser = past.browsers[id] ?? newest else {
            return past.missing(14, "a session came of a browser that was never opened")
        }
        if browser.hasEnded, newest?.hasEnded ?? true {
            past.broken(14, "a session came of a browser that was signed out")
        }
        if browser.account != session.account {
            past.broken(14, "a session came of a browser in which another account is signed in")
        }
    }

    private static func goOn(_ past: inout Past, _ event: Event) {
        let isRefresh = event.is("session.refreshed")
        guard let session = past.sessions[event.stream] else {
            return past.missing(
                8, mayBeForgotten: !isRefresh && past.sessions.hasForgotten,
                "\(event.type) of a session that was never opened, or is long over")
        }
        if session.hasEnded { past.broken(8, "\(event.type) of a session that has ended") }
        if event.is("session.ended") { past.sessions[event.stream]?.hasEnded = true }
        guard isRefresh else { return }
        if let late = event.late(after: session.expiresAt) {
            past.broken(8, "a session is refreshed \(late) s after its end")
        }
        past.judge(session, "a session that is refreshed")
    }

    private static func refresh(_ past: inout Past, _ event: Event) {
        guard let session = past.sessions[event.stream] else {
            return past.missing(
                9, "a session is refreshed that was never opened, or is long over")
        }
        let generation = event.data.integer("generation") ?? 0
        guard generation != session.generation else { return }
        let parent = event.data.integer("parent") ?? generation - 1
        if generation != session.generation + 1 {
            past.broken(9, "refresh token \(generation) follows \(session.generation)")
        } else if parent != session.generation, parent != session.parent {
            past.broken(
                9,
                "refresh token \(generation) came of \(parent): neither the leaf nor the one before"
            )
        }
        past.sessions[event.stream]?.generation = generation
        past.sessions[event.stream]?.parent = parent
    }

    private static func judgeLife(_ past: inout Past, _ event: Event) {
        guard let opened = past.sessions[event.stream] else { return }
        for id in opened.above {
            guard let late = event.late(after: past.sessions[id]?.expiresAt) else { continue }
            past.broken(
                23, "\(event.type) below a session whose life ended \(late) s before")
        }
    }

    private static func changeApp(_ past: inout Past, _ event: Event) {
        if event.is("app.created") {
            past.apps.begin(true, event.stream, at: event.second)
        } else if past.apps[event.stream] != true {
            past.missing(10, "\(event.type) of an app that is not there")
        }
        if event.is("app.deleted") { past.apps[event.stream] = false }
    }
}

/// The sign-ins of an account in one browser, one after the other.
private struct Line {
    let newest: UUID
    let expiresAt: Int64
}
