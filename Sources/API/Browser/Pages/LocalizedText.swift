internal import HTTP
internal import Identity
internal import Mail

/// What a page says, in the reader's language. Both languages stand side by side where they are
/// said, so that none is forgotten.
struct LocalizedText: Sendable {
    let language: Language

    func callAsFunction(_ english: String, _ german: String) -> String {
        switch language {
        case .english: english
        case .german: german
        }
    }

    /// The first of a list with spaces that we speak (OpenID Connect Core section 3.1.2.1).
    static func language(among tags: String) -> Language? {
        for tag in tags.split(separator: " ") {
            if let spoken = MailLanguage(tag: String(tag)) {
                return Language(rawValue: spoken.rawValue)
            }
        }
        return nil
    }

    /// What the address asks for (`ui_locales`), else the reader's, as far as we speak it, else the
    /// realm's.
    static func language(of request: Request, otherwise: Language) -> Language {
        if let spoken = asked(by: request).flatMap({ language(among: $0) }) { return spoken }
        return MailLanguage(accepted: request.headers["Accept-Language"])
            .flatMap { Language(rawValue: $0.rawValue) } ?? otherwise
    }

    static func asked(by request: Request) -> String? {
        guard let query = request.query, query.utf8.count <= 16 << 10, mayName(query)
        else { return nil }
        return Form.parse(query)?.last { $0.name == "ui_locales" }?.value
    }

    /// Most addresses ask for no language, and need not be taken apart to see it.
    private static func mayName(_ query: String) -> Bool {
        let (query, name) = (query.utf8Span.span, "locales".utf8Span.span)
        guard query.count >= name.count else { return false }
        for start in 0...(query.count - name.count) where query[start] == name[0] {
            if name.indices.allSatisfy({ query[start + $0] == name[$0] }) { return true }
        }
        return false
    }

    /// A page that goes on in the first of these languages that we speak.
    static func page(_ path: String, in tags: String?) -> String {
        guard let spoken = tags.flatMap({ language(among: $0) }) else { return path }
        return "\(path)?ui_locales=\(spoken.rawValue)"
    }
}
