import HTML
import Testing

@Suite struct `Markup` {
    @Test func `markup escapes every text`() {
        let hostile = "<script>alert('1')</script> & \"x\" `y`"
        let html = HTML {
            HTML.element(.p, .class(hostile), .title("\" onclick=\"x")) {
                hostile
                HTML.element(.br)
                "ä 🎉"
            }
        }
        #expect(
            html.markup == """
                <p class="&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot; \
                &#96;y&#96;" title="&quot; onclick=&quot;x">&lt;script&gt;alert(&#39;1&#39;)\
                &lt;/script&gt; &amp; &quot;x&quot; `y`<br>ä 🎉</p>
                """)
    }

    @Test func `markup drops invalid characters and those that change the text's direction`() {
        for scalar in ["\0", "\u{8}", "\u{7F}", "\u{85}", "\u{202E}", "\u{2066}", "\u{FFFE}"] {
            #expect(HTML.text("a\(scalar)b").markup == "a\u{FFFD}b")
        }
        #expect(HTML.text("a\tb\nc\r\nd").markup == "a\tb\nc\r\nd")
    }

    @Test(arguments: [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:x",
        "data:text/html,x", "vbscript:x", "//evil.example", "/\\evil.example", "\\\\evil", "x:y",
        "evil.example", "/\t/evil.example", "", "https:evil", "blob:https://x",
    ])
    func `markup refuses links that run scripts or mislead`(place: String) {
        let html = HTML.element(.a, .href(place)) { "x" }
        #expect(html.markup == "<a href=\"about:invalid\">x</a>")
    }

    @Test(arguments: [
        "https://a.example/b?c=d#e", "HTTP://a.example", "mailto:a@b.example", "/path", "#part",
        "?query=1",
    ])
    func `markup takes links to pages, mailboxes and places of the site`(place: String) {
        #expect(HTML.element(.a, .href(place)) { "x" }.markup == "<a href=\"\(place)\">x</a>")
    }

    @Test func `markup takes links to apps where it is asked to, and to no scheme of a browser`() {
        func link(_ place: String) -> String {
            HTML.element(.a, .appHref(place)) { "x" }.markup
        }
        for place in ["org.example.app:/back?a=1", "https://a.example/", "/path"] {
            #expect(link(place) == "<a href=\"\(place)\">x</a>")
        }
        for place in [
            "javascript:alert(1)", "java.script\n:x", "data:text/html,a.b", "x:y", " a.b:c",
            "1.2:x", "a.b/c:d", "a.b",
        ] {
            #expect(link(place) == "<a href=\"about:invalid\">x</a>", "\(place)")
        }
    }

    @Test func `markup escapes within links`() {
        #expect(
            HTML.element(.img, .source("https://a.example/?a=1&b=\"'")).markup
                == "<img src=\"https://a.example/?a=1&amp;b=&quot;&#39;\">")
    }

    @Test func `markup cannot close a style sheet early`() {
        #expect(
            HTML.style("a{}</style><script>x</script>").markup
                == "<style>a{}/style>script>x/script></style>")
    }

    @Test func `markup supports conditions, options and loops`() {
        func page(_ isOn: Bool, _ name: String?) -> String {
            HTML {
                if isOn { "on" } else { HTML.element(.em) { "off" } }
                if let name { name }
                for number in 0..<3 { String(number) }
                name.map { found in HTML.element(.strong) { found } }
                HTML.element(
                    .input, .name("a"), .when(isOn, .required), .when(!isOn, .disabled))
            }.markup
        }
        #expect(page(true, nil) == "on012<input name=\"a\" required>")
        #expect(
            page(false, "<")
                == "<em>off</em>&lt;012<strong>&lt;</strong><input name=\"a\" disabled>")
    }

    @Test func `markup renders a whole page`() {
        let page = HTML.document(language: "en\"") {
            HTML.element(.title) { "A </title> b" }
        } body: {
            HTML.element(.pre) { "\nx" }
        }
        #expect(
            page.markup == """
                <!DOCTYPE html>
                <html lang="en&quot;"><head><title>A &lt;/title&gt; b</title></head>\
                <body><pre>\n\nx</pre></body></html>

                """)
        #expect(page.bytes == Array(page.markup.utf8))
    }

    @Test func `markup has no element that runs scripts`() {
        for name in ["script", "iframe", "object", "embed", "svg", "math", "base", "template"] {
            #expect(Element(rawValue: name) == nil)
        }
    }
}
