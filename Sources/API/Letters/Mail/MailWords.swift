internal import Identity
internal import JSON
internal import Mail

/// A realm's own words for its mails, as its settings have them: by kind, language and part. What is
/// missing comes from our templates.
enum MailWords {
    static let schema = Schema.named(
        "MailWords",
        .object(
            MailKind.Name.allCases.map { kind in
                .optional(
                    kind.rawValue,
                    .object(
                        MailLanguage.allCases.map { language in
                            .optional(language.rawValue, parts, "Texts in this language.")
                        }), "Texts of this kind of mail.")
            }))

    private static let parts = Schema.named(
        "MailParts",
        .object(
            MailText.Part.allCases.map { part in
                .optional(
                    part.rawValue, .text(1...4_000),
                    "Text of the part; names in braces are placeholders.")
            }))

    static func overrides(of settings: Settings) -> [MailTemplates.Key: MailOverride] {
        var overrides: [MailTemplates.Key: MailOverride] = [:]
        each(settings[SettingCatalogue.mailWords]) { kind, language, parts in
            overrides[MailTemplates.Key(kind, language)] = try? MailOverride(parts, for: kind)
        }
        return overrides
    }

    /// Finds what could not be filled in later, while the caller is there to hear of it.
    static func check(_ words: JSON?) throws(Problem) {
        var fault: String?
        each(words?.object ?? [:]) { kind, language, parts in
            do throws(MailOverride.Fault) {
                _ = try MailOverride(parts, for: kind)
            } catch {
                fault =
                    "mail_words, \(kind.rawValue) in \(language.rawValue): \(error.sentence(of: kind))"
            }
        }
        if let fault { throw Problem(.invalidField, fault, field: "mail_words") }
    }

    private static func each(
        _ words: JSONObject,
        _ body: (MailKind.Name, MailLanguage, [MailText.Part: String]) -> Void
    ) {
        for kind in MailKind.Name.allCases {
            for language in MailLanguage.allCases {
                guard let texts = words[kind.rawValue]?[language.rawValue]?.object else { continue }
                let parts = MailText.Part.allCases.compactMap { part in
                    texts[part.rawValue]?.string.map { (part, $0) }
                }
                body(kind, language, Dictionary(parts, uniquingKeysWith: { first, _ in first }))
            }
        }
    }
}

extension MailOverride.Fault {
    fileprivate func sentence(of kind: MailKind.Name) -> String {
        switch self {
        case .tooLong(let part): return "the \(part.rawValue) is too long"
        case .empty(let part): return "the \(part.rawValue) says nothing"
        case .severalLines(let part): return "the \(part.rawValue) has more than one line"
        case .unknownPlaceholder(let part, let name):
            let known = Placeholder.known(in: kind, part).map { "{\($0.rawValue)}" }.sorted()
            return "the \(part.rawValue) has {\(name)}, which this mail does not know there, "
                + "but \(known.joined(separator: ", "))"
        }
    }
}
