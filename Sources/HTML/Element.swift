/// The elements that can be made. Nothing runs: there is no script, frame or plug-in among them.
public enum Element: String, Sendable, CaseIterable {
    case html, head, title, body, meta, link
    case header, main, footer, nav, section, article
    case h1, h2, h3, p, div, span, br, hr
    case a, strong, em, small, code, pre, time
    case ul, ol, li, dl, dt, dd
    case img, figure, figcaption
    case table, thead, tbody, tr, th, td
    case form, fieldset, legend, label, input, button, select, option, textarea, output
    case details, summary

    /// Has neither content nor end (HTML standard, section 13.1.2).
    var isVoid: Bool {
        switch self {
        case .meta, .link, .br, .hr, .img, .input: true
        case .html, .head, .title, .body, .header, .main, .footer, .nav, .section, .article, .h1,
            .h2, .h3, .p, .div, .span, .a, .strong, .em, .small, .code, .pre, .time, .ul, .ol, .li,
            .dl, .dt, .dd, .figure, .figcaption, .table, .thead, .tbody, .tr, .th, .td, .form,
            .fieldset, .legend, .label, .button, .select, .option, .textarea, .output, .details,
            .summary:
            false
        }
    }
}

extension HTML {
    /// An element with its content. Elements that cannot have any ignore it.
    public static func element(
        _ element: Element, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML
    ) -> HTML {
        make(element, attributes, content())
    }

    /// An element without content.
    public static func element(_ element: Element, _ attributes: Attribute...) -> HTML {
        make(element, attributes, .nothing)
    }

    private static func make(
        _ element: Element, _ attributes: [Attribute], _ content: HTML
    ) -> HTML {
        let name = element.rawValue
        var markup = ""
        markup.reserveCapacity(
            attributes.reduce(content.markup.utf8.count + 2 * name.utf8.count + 6) {
                $0 + $1.markup.utf8.count
            })
        markup += "<"
        markup += name
        for attribute in attributes { markup += attribute.markup }
        markup += ">"
        if element.isVoid { return HTML(unchecked: markup) }
        // A parser drops a line break right behind these, so that one more keeps the text's own.
        let isDropping = element == .pre || element == .textarea
        if isDropping, content.markup.utf8.first == 0x0A { markup += "\n" }
        markup += content.markup
        markup += "</"
        markup += name
        markup += ">"
        return HTML(unchecked: markup)
    }

    /// A style sheet. No rule needs `<`, and without it nothing in there can end the element.
    public static func style(_ sheet: String) -> HTML {
        let isSafe = sheet.utf8.allSatisfy { $0 != UInt8(ascii: "<") && $0 != 0 }
        let text =
            isSafe ? sheet : String(sheet.unicodeScalars.filter { $0 != "<" && $0.value != 0 })
        return HTML(unchecked: "<style>" + text + "</style>")
    }

    /// A script of this site: none ever stands in a page itself.
    public static func script(from place: String) -> HTML {
        HTML(unchecked: "<script" + Attribute.source(place).markup + " defer></script>")
    }

    /// A whole page.
    public static func document(
        language: String, @HTMLBuilder head: () -> HTML, @HTMLBuilder body: () -> HTML
    ) -> HTML {
        let page = make(
            .html, [.language(language)],
            HTML {
                make(.head, [], head())
                make(.body, [], body())
            })
        return HTML(unchecked: "<!DOCTYPE html>\n" + page.markup + "\n")
    }
}
