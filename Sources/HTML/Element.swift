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
        var output: [UInt8] = []
        output.reserveCapacity(
            attributes.reduce(content.bytes.count + 2 * name.utf8.count + 6) { $0 + $1.size })
        output.append(UInt8(ascii: "<"))
        output.append(text: name)
        for attribute in attributes { attribute.write(into: &output) }
        output.append(UInt8(ascii: ">"))
        if element.isVoid { return HTML(unchecked: output) }
        // A parser drops a line break right behind these, so that one more keeps the text's own.
        let isDropping = element == .pre || element == .textarea
        if isDropping, content.bytes.first == 0x0A { output.append(0x0A) }
        output.append(contentsOf: content.bytes)
        output.append(literal: "</")
        output.append(text: name)
        output.append(UInt8(ascii: ">"))
        return HTML(unchecked: output)
    }

    /// A style sheet. No rule needs `<`, and without it nothing in there can end the element.
    public static func style(_ sheet: String) -> HTML {
        var output = Array("<style>".utf8)
        output += sheet.utf8.filter { $0 != UInt8(ascii: "<") && $0 != 0 }
        output.append(literal: "</style>")
        return HTML(unchecked: output)
    }

    /// A script of this site: none ever stands in a page itself.
    public static func script(from place: String) -> HTML {
        var output = Array("<script".utf8)
        Attribute.source(place).write(into: &output)
        output.append(literal: " defer></script>")
        return HTML(unchecked: output)
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
        var output: [UInt8] = []
        output.reserveCapacity(page.bytes.count + 18)
        output.append(literal: "<!DOCTYPE html>\n")
        output.append(contentsOf: page.bytes)
        output.append(0x0A)
        return HTML(unchecked: output)
    }
}
