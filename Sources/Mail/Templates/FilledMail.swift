import HTML

/// A mail with all its words in place, and its two forms.
struct FilledMail {
    enum Highlight {
        case none
        case code(String)
        case link(String, String)
    }

    let subject: String
    let preview: String
    let heading: String
    let greeting: String
    let introduction: [[String]]
    let highlight: Highlight
    let closing: [[String]]
    let branding: Branding
    let language: MailLanguage

    /// For readers without HTML: a code or an address has a line for itself.
    var text: String {
        var blocks = [heading, greeting] + introduction.map { $0.joined(separator: "\n") }
        switch highlight {
        case .none: break
        case .code(let code): blocks.append("    " + code)
        case .link(let url, let label): blocks.append(label + ":\n" + url)
        }
        blocks += closing.map { $0.joined(separator: "\n") }
        let footer = [branding.productName, language.automaticNote, branding.footer]
        blocks.append("-- \n" + footer.filter { !$0.isEmpty }.joined(separator: "\n"))
        return blocks.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    var page: HTML {
        .document(language: language.rawValue) {
            Self.metadata
            HTML.element(.title) { subject }
            MailStyle.sheet
        } body: {
            HTML.element(.div, MailStyle.preview, .hiddenFromReaders) { preview }
            HTML.element(.div, .class("page"), MailStyle.page, .role("article")) {
                header
                HTML.element(.div, .class("card"), MailStyle.card) {
                    HTML.element(.h1, .class("ink"), MailStyle.heading) { heading }
                    HTML.element(.p, .class("ink"), MailStyle.paragraph) { greeting }
                    for lines in introduction { paragraph(lines, MailStyle.paragraph, "ink") }
                    highlighted
                    for lines in closing { paragraph(lines, MailStyle.small, "quiet") }
                }
                footer
            }
        }
    }

    /// The same in all mails.
    private static let metadata = HTML {
        HTML.element(.meta, .charset("utf-8"))
        HTML.element(
            .meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
        HTML.element(.meta, .name("color-scheme"), .content("light dark"))
        HTML.element(.meta, .name("supported-color-schemes"), .content("light dark"))
        // Apple Mail would make links of anything that looks like a date or an address.
        HTML.element(
            .meta, .name("format-detection"),
            .content("telephone=no, date=no, address=no, email=no, url=no"))
    }

    private var header: HTML {
        HTML.element(.div, MailStyle.header) {
            if let logo = branding.logo {
                HTML.element(
                    .img, .source(logo.url), .alternative(branding.productName), .height(40),
                    MailStyle.logo)
            } else {
                HTML.element(.span, .class("ink"), MailStyle.product) {
                    branding.productName
                }
            }
        }
    }

    private var highlighted: HTML {
        switch highlight {
        case .none: .nothing
        case .code(let code):
            HTML.element(.p, .class("code"), MailStyle.code) { code }
        case .link(let url, let label):
            HTML {
                HTML.element(.p, MailStyle.buttonPlace) {
                    HTML.element(
                        .a, .href(url), .class("button"),
                        MailStyle.button(branding.accent)
                    ) { label }
                }
                HTML.element(.p, .class("quiet"), MailStyle.small) {
                    language.linkHint
                    HTML.element(.br)
                    HTML.element(.a, .href(url), .class("link"), MailStyle.link) { url }
                }
            }
        }
    }

    private var footer: HTML {
        let lines =
            [language.automaticNote, branding.productName]
            + branding.footer.split(
                separator: "\n"
            ).map(String.init)
        return paragraph(lines.filter { !$0.isEmpty }, MailStyle.footer, "quiet")
    }

    private func paragraph(_ lines: [String], _ style: Attribute, _ name: String) -> HTML {
        HTML.element(.p, .class(name), style) {
            for (index, line) in lines.enumerated() {
                if index > 0 { HTML.element(.br) }
                line
            }
        }
    }
}

/// The look of all mails: one column on a quiet ground. Rules stand at the elements, because many
/// readers drop a sheet; the sheet is for the dark and for small screens.
enum MailStyle {
    static let sheet = HTML.style(
        """
        :root{color-scheme:light dark;supported-color-schemes:light dark}
        body{margin:0;padding:0;background:#f3f4f6}
        @media (max-width:520px){.card{padding:24px 20px!important}}
        @media (prefers-color-scheme:dark){
        body,.page{background:#111418!important}
        .card{background:#1b2027!important;border-color:#2c333d!important}
        .ink{color:#f1f3f5!important}
        .quiet{color:#a7b0bb!important}
        .code{background:#11161c!important;color:#ffffff!important}
        .link{color:#9cc4ff!important}
        }
        """)

    private static let font =
        "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;"

    /// Read by inboxes, not shown in the mail.
    static let preview = Attribute.style(
        "display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;color:transparent;"
            + "font-size:1px;line-height:1px")
    static let page = Attribute.style(
        font + "background:#f3f4f6;padding:32px 16px;margin:0;-webkit-text-size-adjust:100%")
    static let header = Attribute.style("max-width:480px;margin:0 auto 20px;text-align:left")
    static let logo = Attribute.style("height:40px;max-width:200px;border:0;display:block")
    static let product = Attribute.style("font-size:18px;font-weight:600;color:#111827")
    static let card = Attribute.style(
        "max-width:480px;margin:0 auto;background:#ffffff;border:1px solid #e5e7eb;"
            + "border-radius:12px;padding:32px;box-sizing:border-box;text-align:left")
    static let heading = Attribute.style(
        "margin:0 0 20px;font-size:22px;line-height:1.3;font-weight:600;color:#111827")
    static let paragraph = Attribute.style(
        "margin:0 0 16px;font-size:16px;line-height:1.5;color:#111827")
    static let small = Attribute.style(
        "margin:0 0 12px;font-size:14px;line-height:1.5;color:#4b5563")
    static let code = Attribute.style(
        "margin:24px 0;padding:16px;border-radius:8px;background:#f3f4f6;color:#111827;"
            + "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:32px;"
            + "line-height:1.2;font-weight:600;letter-spacing:6px;text-align:center;"
            + "word-break:break-all")
    static let buttonPlace = Attribute.style("margin:24px 0")
    static let link = Attribute.style("color:#1d4ed8;word-break:break-all")
    static let footer = Attribute.style(
        "max-width:480px;margin:20px auto 0;font-size:12px;line-height:1.5;color:#4b5563")

    static func button(_ accent: Colour) -> Attribute {
        .style(
            "display:inline-block;padding:12px 24px;border-radius:8px;background:\(accent.css);"
                + "color:\(accent.ink);font-size:16px;font-weight:600;text-decoration:none")
    }
}
