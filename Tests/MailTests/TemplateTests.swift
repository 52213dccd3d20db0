import Foundation
import Testing
import Values

@testable import Mail

private let moment = Timestamp(seconds: 1_790_000_000)

private func all() throws -> [MailKind] {
    let link = try #require(MailLink("https://login.example.org/magic-login?userId=1&token=%2B"))
    return [
        .emailOtp(code: "123456", minutes: 10), .magicLink(link, minutes: 15),
        .secondFactorCode(code: "123456", minutes: 15),
        .certificationCode(code: "123456", minutes: 15),
        .emailChangeCode(code: "123456", minutes: 10), .pinResetCode(code: "123456", minutes: 5),
        .emailVerification(link, minutes: 60), .passkeyEnrolled(device: "iPhone 17", at: moment),
        .passkeyRemoved(device: "iPhone 17", at: moment), .totpEnrolled(at: moment),
        .totpRemoved(at: moment), .passphraseSet(at: moment), .passphraseRemoved(at: moment),
        .pinSet(at: moment),
        .passphraseGuessed(at: moment), .totpGuessed(at: moment),
        .deviceAdded(device: "Phone", at: moment), .deviceCertified(device: "Phone", at: moment),
        .addressChanged(at: moment), .addressesChanged(at: moment),
        .signedOutEverywhere(at: moment), .accountDisabled(at: moment),
        .accountDeletion(at: moment), .accountDeletionAsked(link, at: moment),
        .passphraseReset(link, minutes: 15),
        .ownerInvitation(link), .passphraseHint("the otters' <dance>"),
        .providerConnected(name: "corporate", at: moment),
        .notification(title: "Your balance is low", message: "Three euros.", sender: "Banks"),
        .subscriberFails(name: "CRM", since: moment), .subscriberStopped(name: "CRM", at: moment),
    ]
}

@Suite struct `A mail of a realm` {
    private let branding = Branding(
        productName: "Acme & Söhne", accent: Colour("#0a7d5a") ?? .ink,
        logo: MailLink("https://cdn.example.org/logo.png?a=1&b=2"),
        footer: "Acme GmbH\nMain Street 1 <Berlin>")

    @Test(arguments: MailLanguage.allCases)
    func `a realm's mail has all its texts in each language`(language: MailLanguage) throws {
        let kinds = try all()
        #expect(Set(kinds.map(\.name)) == Set(MailKind.Name.allCases))
        for kind in kinds {
            let mail = MailTemplates(branding: branding).content(
                of: kind, in: language, displayName: "Anna")
            #expect(mail.subject.contains("Acme & Söhne"))
            for text in [mail.subject, mail.text] {
                #expect(!text.contains("{") && !text.contains("}"), "\(kind.name)")
            }
            #expect(mail.html.contains("Acme &amp; Söhne"))
            #expect(!mail.html.contains("Acme & Söhne"))
            #expect(mail.html.contains("Main Street 1 &lt;Berlin&gt;"))
            #expect(mail.html.contains("https://cdn.example.org/logo.png?a=1&amp;b=2"))
            #expect(mail.text.contains("Anna,"))
            #expect(mail.language == language)
            #expect(mail.html.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(language.rawValue)\">"))
            #expect(!mail.html.contains("<table") && !mail.html.contains("<script"))
        }
        let subjects = kinds.map {
            MailTemplates(branding: branding).content(of: $0, in: language).subject
        }
        #expect(Set(subjects).count == kinds.count)
    }

    @Test func `a realm's mail shows a code that is stored nowhere`() {
        let mail = MailTemplates(branding: branding).content(
            of: .emailOtp(code: "047911", minutes: 10), in: .english)
        #expect(mail.text.contains("\n    047911\n"))
        #expect(mail.html.contains(">047911</p>"))
        #expect(mail.html.contains("10 minutes"))
        #expect(!mail.subject.contains("047911"))
        let once = MailTemplates(branding: branding).content(
            of: .emailOtp(code: "1", minutes: 1), in: .german)
        #expect(once.text.contains("1 Minute "))
    }

    @Test
    func `a realm's mail does not offer to keep an account that only administrators can keep`()
        throws
    {
        let templates = MailTemplates(branding: branding)
        let english = templates.content(of: .accountDeletion(at: moment), in: .english)
        #expect(english.text.contains("Only the team of Acme & Söhne can cancel the deletion."))
        #expect(!english.html.contains("change your mind"))
        let german = templates.content(of: .accountDeletion(at: moment), in: .german)
        #expect(german.text.contains("wenden Sie sich vorher dorthin"))
        for word in ["rückgängig", "anders überlegen", "melden Sie sich bald"] {
            #expect(!german.html.contains(word), "\(word)")
        }
        // Who asked for it himself has a link for that.
        let link = try #require(MailLink("https://login.example.org/account/keep?token=a"))
        let own = templates.content(of: .accountDeletionAsked(link, at: moment), in: .english)
        #expect(own.html.contains("change your mind") && own.text.contains(link.url))
    }

    /// WCAG 2.2, section 1.4.3.
    @Test func `a realm's mail renders to its last line`() throws {
        func luminance(_ digits: Substring) throws -> Double {
            let value = try #require(Int(digits, radix: 16))
            let parts = [value >> 16, value >> 8 & 0xFF, value & 0xFF].map { byte in
                let part = Double(byte) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let html = MailTemplates(branding: branding).content(
            of: .passphraseSet(at: moment), in: .english
        ).html
        let ground = try #require(
            html.firstMatch(of: #/class="page" style="[^"]*background:#([0-9a-f]{6})/#)
        ).1
        let footer = try #require(
            html.firstMatch(of: #/font-size:12px[^"]*;color:#([0-9a-f]{6})/#)
        ).1
        let contrast = (try luminance(ground) + 0.05) / (try luminance(footer) + 0.05)
        #expect(contrast >= 4.5, "\(contrast)")
    }

    @Test func `a realm's mail links to the given address`() throws {
        let url = "https://login.example.org/magic-login?userId=1&token=%2B"
        let link = try #require(MailLink(url))
        let mail = MailTemplates(branding: branding).content(
            of: .magicLink(link, minutes: 15), in: .german)
        #expect(mail.text.contains("\n\(url)\n"))
        #expect(mail.html.contains("href=\"\(url.replacing("&", with: "&amp;"))\""))
        for text in [
            "javascript:alert(1)", "https://user@a.example/", "data:x", "", "//a.example",
            "https://a.example/ x", "https://a.example/\"onclick=x",
        ] {
            #expect(MailLink(text) == nil)
        }
    }

    @Test(arguments: [
        ("Anna", "Hello Anna,"), ("Dr. Anna-Lena O'Neil", "Hello Dr. Anna-Lena O'Neil,"),
        ("Łukasz Żółć", "Hello Łukasz Żółć,"), ("山田 太郎", "Hello 山田 太郎,"),
        ("evil.example", "Hello,"), ("Win at evil . example", "Hello,"),
        ("http://evil.example", "Hello,"), ("a@b", "Hello,"), ("Call 1:2", "Hello,"),
        ("<b>x</b>", "Hello,"), ("{code}", "Hello,"), ("🎉 Prize", "Hello,"), ("", "Hello,"),
        ("evil。example", "Hello,"), ("evil․example", "Hello,"), ("12345", "Hello,"),
        ("Call 0900 123", "Hello,"),
        ("You have won a prize, call us at once now", "Hello,"), ("a\r\nb", "Hello a b,"),
    ])
    func `a realm's mail drops names that contain advertisements`(name: String, greeting: String) {
        let mail = MailTemplates(branding: branding).content(
            of: .emailOtp(code: "1", minutes: 10), in: .english, displayName: name)
        #expect(mail.text.split(separator: "\n").contains { $0 == greeting })
    }

    @Test func `a realm's mail names a passkey only by a plain name`() {
        let mail = MailTemplates(branding: branding).content(
            of: .passkeyEnrolled(device: "http://evil.example", at: moment), in: .english)
        #expect(mail.text.contains("“Passkey”"))
        #expect(mail.text.contains("2026-09-21 at 14:13 UTC"))
        let german = MailTemplates(branding: branding).content(
            of: .passkeyEnrolled(device: "Pixel 9", at: moment), in: .german)
        #expect(german.text.contains("„Pixel 9“"))
        #expect(german.text.contains("21.09.2026 um 14:13 Uhr (UTC)"))
    }

    @Test func `a realm's mail may have the realm's own words`() throws {
        let own = try MailOverride(
            [
                .subject: "{product}: welcome {name} <b>",
                .closing: "One {code}\n{ x } & <i>\n\nTwo",
            ], for: .emailOtp)
        var templates = MailTemplates(branding: branding)
        templates.overrides[.init(.emailOtp, .english)] = own
        let kind = MailKind.emailOtp(code: "{product}", minutes: 10)
        let mail = templates.content(of: kind, in: .english, displayName: "Anna")
        #expect(mail.subject == "Acme & Söhne: welcome Anna <b>")
        #expect(mail.text.contains("One {product}\n{ x } & <i>\n\nTwo\n"))
        #expect(mail.html.contains("One {product}<br>{ x } &amp; &lt;i&gt;</p>"))
        #expect(mail.html.contains("welcome Anna &lt;b&gt;</title>"))
        // What it does not change stays, and so does the other language.
        #expect(mail.text.contains("Enter this code"))
        #expect(!templates.content(of: kind, in: .german).subject.contains("welcome"))
    }

    @Test(arguments: [
        (
            MailText.Part.subject, "Code {code}",
            MailOverride.Fault.unknownPlaceholder(.subject, "code")
        ),
        (.preview, "{code}", .unknownPlaceholder(.preview, "code")),
        (.closing, "{url}", .unknownPlaceholder(.closing, "url")),
        (.closing, "{Name}", .unknownPlaceholder(.closing, "Name")),
        (.subject, " \n", .empty(.subject)), (.heading, "\u{200B}", .empty(.heading)),
        (.closing, "\u{2800}\u{3164}\n\u{202E}", .empty(.closing)),
        (.subject, "x\r\nBcc: eve@example.org", .severalLines(.subject)),
        (.heading, "One\u{2028}two", .severalLines(.heading)),
        (.subject, String(repeating: "a", count: 401), .tooLong(.subject)),
        (.closing, String(repeating: "a", count: 4001), .tooLong(.closing)),
    ])
    func `a realm's mail refuses words with unknown placeholders`(
        part: MailText.Part, words: String, fault: MailOverride.Fault
    ) {
        #expect(throws: fault) { try MailOverride([part: words], for: .emailOtp) }
    }

    @Test func `a realm's mail refuses an invalid look`() {
        for text in ["", "red", "#fff", "#12345g", "#1234567", "123456", "#+12345", "#１２３４５６"] {
            #expect(Colour(text) == nil, "\(text)")
        }
        #expect(Colour("#FFffFF")?.css == "#ffffff")
        #expect(Colour("#0a0B00")?.css == "#0a0b00")
        #expect(Colour("#ffffff")?.ink == "#000000")
        #expect(Colour("#000000")?.ink == "#ffffff")
        #expect(Colour.ink.ink == "#ffffff")
        let plain = Branding(productName: "A\r\nB", logo: MailLink("http://a.example/x.png"))
        #expect(plain.logo == nil)
        #expect(plain.productName == "A B")
    }

    @Test(arguments: [
        ("de", MailLanguage.german), ("de-AT", .german), ("DE_ch", .german), ("en-GB", .english),
        ("fr", nil), ("", nil), ("deu", nil),
    ])
    func `a realm's mail falls back to a language that it has`(tag: String, language: MailLanguage?)
    {
        #expect(MailLanguage(tag: tag) == language)
    }
}
