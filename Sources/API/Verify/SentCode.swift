internal import Identity
internal import JSON
internal import Values

/// Where a code went to just now, as it stands in the address of the page on which it is typed: sealed, and
/// good where it was asked for alone: in one browser, or in one frame.
struct SentCode: Sendable {
    /// A mail address or a phone number in its one form.
    var address: String
    var channel: Channel
    /// Whether an earlier code was sent.
    var isAnother = false
    /// Of one that is confirmed by a link: this page alone knows its name.
    var link: UUID?

    static let parameter = Parameter(
        "to", in: .query, .text(0...2048), "Sealed address that the code was sent to.")

    /// Seconds that the person has to find the message.
    private static let patience: Int64 = 3_600

    func sealed(_ call: Call<RealmContext>, in form: String) throws(Problem) -> String {
        let until = call.context.clock.now().adding(seconds: Self.patience)
        var members: JSONObject = [
            "address": .string(address), "channel": .string(channel.rawValue),
            "another": .bool(isAnother), "form": .string(form),
            "until": .integer(until.seconds),
        ]
        members["link"] = link.map { .string($0.description) }
        guard let text = call.context.mint.seal(.object(members), for: .verification) else {
            throw Problem(.internalError)
        }
        return text
    }

    /// Nil for what was not sealed here for this browser or frame, and when it is too late.
    init?(_ sealed: String?, _ call: Call<RealmContext>, in form: String) {
        guard let sealed,
            let members = call.context.mint.unseal(sealed, for: .verification)?.object,
            let address = members["address"]?.string,
            let channel = members["channel"]?.string.flatMap(Channel.init),
            members["form"]?.string == form, let until = members["until"]?.integer,
            call.context.clock.now().seconds < until
        else { return nil }
        self.address = address
        self.channel = channel
        isAnother = members["another"]?.bool ?? false
        link = members["link"]?.string.flatMap { UUID($0) }
    }

    init(address: String, channel: Channel, isAnother: Bool, link: UUID?) {
        self.link = link
        self.address = address
        self.channel = channel
        self.isAnother = isAnother
    }
}
