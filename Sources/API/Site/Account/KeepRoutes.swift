internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where the link leads in the mail that tells of a deletion: a user who asked for it can change
/// their mind, and a user who did not can undo what was done in their name. Only the button does
/// it, and it signs no user in.
enum KeepRoutes {
    static let table: [Route<RealmContext>] = [show, keep]

    static let path = Place.keepPath

    private static let show = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: path), id: "showKeepAccount", tag: "Pages",
        summary: "Shows the page that cancels a deletion.", right: .nothing,
        voice: .page,
        parameters: [Parameter("token", in: .query, .text(0...200), "Token from the mail.")],
        answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let token = call.text("token") ?? ""
        guard let (link, account) = call.context.mint.readKeepToken(token),
            try await RealmLookups(call.context).folded(Account.self, account)
                .canBeKept(by: link, at: call.context.clock.now())
        else { return over(visit) }
        let say = visit.say
        return visit.page(say("Keep your account", "Konto behalten")) {
            Page.card {
                HTML.element(.h1) { say("Keep your account?", "Ihr Konto behalten?") }
                HTML.element(.p) {
                    say(
                        "We won't delete it, and you can sign in as before. Devices that were signed out stay signed out.",
                        "Wir löschen es nicht, und Sie können sich anmelden wie bisher. Abgemeldete Geräte bleiben abgemeldet."
                    )
                }
                visit.form(path) {
                    Parts.hidden("token", token)
                    Parts.button(say("Keep my account", "Mein Konto behalten"))
                }
                HTML.element(.p, .class("hint")) {
                    say(
                        "To go ahead with deletion, close this page.",
                        "Soll es gelöscht werden, schließen Sie diese Seite.")
                }
            }
        }
    }

    private static let keep = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "keepAccount", tag: "Pages",
        summary: "Cancels a deletion by the mailed link.", right: .nothing, voice: .page,
        body: .page([.optional("token", .text(0...200), "Token from the mail.")]),
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        guard
            let (link, account) = call.context.mint.readKeepToken(
                call.body["token"]?.string ?? "")
        else { return over(visit) }
        try RateCounter(call).count(.emailVerification, target: account.description)
        let refusal = try await Commands(call).attempt(
            AccountChange.keep(account, link: link, now: call.context.clock.now()),
            as: .user(account))
        switch refusal {
        case nil:
            return visit.notice(
                visit.say("We've kept your account", "Ihr Konto bleibt bestehen"),
                visit.say(
                    "It won't be deleted. If you didn't ask for the deletion, change how you sign in.",
                    "Es wird nicht gelöscht. Haben Sie die Löschung nicht selbst verlangt, ändern Sie, wie Sie sich anmelden."
                ), .ok, link: (visit.say("Sign in", "Anmelden"), "/login"))
        case .linkOver?: return over(visit)
        case let refusal?: throw refusal.problem
        }
    }

    private static func over(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say.linkExpired,
            visit.say(
                "The deletion was cancelled or is complete, or there is a newer e-mail about it.",
                "Die Löschung wurde zurückgenommen oder ist erfolgt, oder es gibt eine neuere E-Mail dazu."
            ),
            .badRequest, link: (visit.say("Sign in", "Anmelden"), "/login"))
    }
}

extension AccountChange.KeepRejection: Refusal {
    var problem: Problem {
        switch self {
        case .linkOver: Problem(.invalidRequest, "The link has expired or has already been used.")
        }
    }
}
