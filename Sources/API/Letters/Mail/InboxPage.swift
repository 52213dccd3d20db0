internal import HTML
internal import Identity
internal import Values

/// The inbox for people: what came, newest first, each mail a click away.
struct InboxPage {
    let letters: [InboxLetter]

    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

    var html: [UInt8] {
        HTML.document(language: "en") {
            HTML.element(.meta, .charset("utf-8"))
            HTML.element(.meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
            HTML.element(.meta, .fixed("http-equiv", "refresh"), .content("5"))
            HTML.element(.title) { "Inbox" }
            HTML.style(Self.sheet)
        } body: {
            HTML.element(.main) {
                HTML.element(.h1) { "Inbox" }
                HTML.element(.p, .class("quiet")) {
                    HTML.element(.a, .href("/deliveries")) { "Deliveries of webhooks" }
                }
                if letters.isEmpty {
                    HTML.element(.p) {
                        "No mail and no message yet. What Urd would send while developing comes here."
                    }
                }
                for received in letters {
                    HTML.element(.article) {
                        HTML.element(.h2) {
                            if let kind = received.letter.messageKind {
                                kind
                            } else {
                                HTML.element(.a, .href("/inbox/\(received.id)")) {
                                    received.letter.subject
                                }
                            }
                        }
                        HTML.element(.p, .class("quiet")) {
                            "to \(received.letter.to), \(received.at.description.prefix(19))Z"
                        }
                        HTML.element(.pre) { received.letter.text }
                    }
                }
            }
        }.bytes
    }

    private static let sheet = """
        :root{color-scheme:light dark}
        body{margin:0;font:16px/1.5 system-ui,sans-serif}
        main{max-width:44rem;margin:0 auto;padding:2rem 1rem}
        article{border:1px solid #8884;border-radius:12px;padding:1rem 1.25rem;margin:0 0 1rem}
        h1{font-size:1.5rem}h2{font-size:1.05rem;margin:0}
        .quiet{opacity:.7;margin:.25rem 0 .75rem}
        pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font-size:.9rem}
        """
}

extension Letter {
    /// Nil of a mail.
    fileprivate var messageKind: String? {
        switch channel {
        case .mail: nil
        case .sms: "SMS"
        case .whatsapp: "WhatsApp message"
        }
    }
}
