extension LocalizedText {
    /// A code stays good for as long as its mail says, whichever request it was sent for.
    var anotherCode: String {
        self(
            "You asked for a new code. Codes from before work until they expire, and it may be the same.",
            "Sie haben einen neuen Code angefordert. Frühere gelten, bis sie ablaufen; er kann derselbe sein."
        )
    }

    func noMoreCodes(for seconds: Int64) -> String {
        let span = span(seconds)
        return self(
            "Too many attempts. Please wait \(span), then ask for a new code. One that you already have works until it expires.",
            "Zu viele Versuche. Bitte warten Sie \(span), dann können Sie einen neuen Code anfordern. Einer, den Sie schon haben, gilt, bis er abläuft."
        )
    }
}
