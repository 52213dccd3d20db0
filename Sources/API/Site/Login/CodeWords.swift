/// What pages say on which a mailed code is typed.
struct CodeWords {
    private let address: CodeAddress
    /// Seconds until another code can be had.
    private let wait: Int64
    private let isSpent: Bool
    private let say: LocalizedText

    init(_ call: Call<RealmContext>, _ address: CodeAddress, _ say: LocalizedText) {
        self.address = address
        self.say = say
        wait = call.wait(for: address)
        isSpent = call.isSpent(address)
    }

    /// The sentence depends on the typed address, and not on what was mailed (account enumeration).
    var asked: String? {
        if address.isTooSoon, wait > 0 {
            let span = say.span(wait)
            return say(
                "You asked for a code a moment ago. If it doesn't arrive, you can ask for another in \(span).",
                "Sie haben gerade schon einen Code angefordert. Kommt er nicht, können Sie in \(span) einen neuen anfordern."
            )
        }
        if let seconds = address.limitedFor { return say.noMoreCodes(for: seconds) }
        guard address.isAnother else { return nil }
        guard address.page == .newAddress else { return say.anotherCode }
        return say(
            "You asked for a new code. The previous one no longer works.",
            "Sie haben einen neuen Code angefordert. Der vorige gilt nicht mehr.")
    }

    func field(isWrong: Bool) -> Field {
        Field(
            name: "code", label: say("Code", "Code"), autocomplete: "one-time-code",
            isCode: true, isFocused: true, limit: 12, wrong: isWrong ? wrong : nil)
    }

    private var wrong: String {
        isSpent
            ? say(
                "That code is wrong, and after this many attempts the one we sent has expired. Ask for a new code.",
                "Dieser Code ist falsch, und nach so vielen Versuchen ist der gesendete abgelaufen. Fordern Sie einen neuen an."
            )
            : say(
                "That code is wrong or has expired.",
                "Dieser Code ist falsch oder abgelaufen.")
    }
}
