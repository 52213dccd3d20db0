import Testing
import Values

@testable import Mail

private func message(
    subject: String = "Hello", text: String = "A text", html: String = "<p>A text</p>",
    name: String = "Urd"
) throws -> MailMessage {
    MailMessage(
        from: Mailbox(try MailAddress("urd@example.org"), name: name),
        to: Mailbox(try MailAddress("anna@example.org")), subject: subject, text: text, html: html,
        language: .english, date: Timestamp(seconds: 1_790_000_000),
        id: try #require(MessageID("1.a@example.org")))
}

private func lines(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(
        separator: "\r\n", omittingEmptySubsequences: false
    )
    .map(String.init)
}

/// What every mail server and reader may count on.
private func expectWellFormed(_ bytes: [UInt8], _ comment: Comment) {
    #expect(bytes.suffix(2) == [0x0D, 0x0A], comment)
    #expect(bytes.allSatisfy { $0 == 0x0D || $0 == 0x0A || $0 == 9 || (0x20...0x7E).contains($0) })
    let all = lines(bytes)
    #expect(all.allSatisfy { !$0.contains("\r") && !$0.contains("\n") }, comment)
    #expect(all.allSatisfy { $0.utf8.count <= 76 }, comment)
    let head = all.prefix { !$0.isEmpty }
    let names = head.filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
    #expect(
        names == [
            "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
            "X-Auto-Response-Suppress", "Content-Language", "MIME-Version", "Content-Type",
        ], comment)
    #expect(all.filter { $0.hasPrefix("--=_") }.count == 3, comment)
    #expect(!all.contains { $0.hasPrefix(".") || $0.hasPrefix("From ") }, comment)
    #expect(!head.contains { $0.allSatisfy { $0 == " " } }, comment)
}

@Suite struct `A mail` {
    @Test func `a mail is written as the standards demand`() throws {
        let found = String(decoding: try message().bytes, as: UTF8.self)
        #expect(
            found.replacing("\r\n", with: "\n") == """
                From: Urd <urd@example.org>
                To: anna@example.org
                Subject: Hello
                Date: Mon, 21 Sep 2026 14:13:20 +0000
                Message-ID: <1.a@example.org>
                Auto-Submitted: auto-generated
                X-Auto-Response-Suppress: All
                Content-Language: en
                MIME-Version: 1.0
                Content-Type: multipart/alternative; boundary="=_two-forms-of-one-text"

                --=_two-forms-of-one-text
                Content-Type: text/plain; charset=utf-8
                Content-Transfer-Encoding: quoted-printable

                A text
                --=_two-forms-of-one-text
                Content-Type: text/html; charset=utf-8
                Content-Transfer-Encoding: quoted-printable

                <p>A text</p>
                --=_two-forms-of-one-text--

                """)
    }

    @Test(arguments: [
        "a\r\nBcc: victim@example.org", "a\nBcc: x", "a\rBcc: x", "a\0b", "a\r\n\r\nbody", "\r\n",
        "a\u{2028}Bcc: x", "a\u{85}Bcc: x", "a\u{B}b", "a\u{C}b", "=?utf-8?q?=0D=0ABcc:_x?=",
        "--=_two-forms-of-one-text", "\u{202E}gnp.exe", String(repeating: "a", count: 5000),
        String(repeating: "ü ", count: 3000), String(repeating: "\"\\", count: 50),
        "e" + String(repeating: "\u{301}", count: 10_000), String(repeating: "👩‍👩‍👧‍👦", count: 300), "",
    ])
    func `a mail's fields cannot contain characters that break them`(hostile: String) throws {
        let mail = try message(subject: hostile, text: hostile, html: hostile, name: hostile)
        expectWellFormed(mail.bytes, "\(hostile.prefix(40).debugDescription)")
    }

    @Test func `a mail takes any text`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "a", "word ", "\r", "\n", "\r\n", ".", "From ", "=", "=?", "?=", "--=_", "\t", " ", "ü",
            "日本", "🎉", "\0", "\u{1B}", "\"", "\\", "<", ">", ",", "@",
            String(repeating: "x", count: 80),
        ]
        for _ in 0..<500 {
            let count = Int.random(in: 0...60, using: &generator)
            let text = (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }
                .joined()
            let mail = try message(subject: text, text: text, html: text, name: text)
            expectWellFormed(mail.bytes, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ("Acme", "From: Acme <urd@example.org>"),
        ("Acme, Inc.", "From: \"Acme, Inc.\" <urd@example.org>"),
        ("A \"b\" \\c", "From: \"A \\\"b\\\" \\\\c\" <urd@example.org>"),
        ("Müller", "From: =?utf-8?q?M=C3=BCller?= <urd@example.org>"),
        ("", "From: urd@example.org"),
        ("a <evil@example.com>", "From: \"a <evil@example.com>\" <urd@example.org>"),
    ])
    func `a mail quotes its sender's name`(name: String, header: String) throws {
        #expect(lines(try message(name: name).bytes)[0] == header)
    }

    @Test(arguments: [
        "a", "a@", "@b", "a@b@c", "a b@c", "<a@b>", "a@b\r\nX: y", "a..b@c", "ü@b", "",
        String(repeating: "a", count: 200) + "@b",
    ])
    func `a mail's identifier has a narrow alphabet`(text: String) {
        #expect(MessageID(text) == nil)
    }

    @Test(arguments: [
        (0, "Thu, 1 Jan 1970 00:00:00 +0000"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000"),
        (-1, "Thu, 1 Jan 1970 00:00:00 +0000"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 +0000"),
    ])
    func `a mail has a date`(seconds: Int64, text: String) {
        #expect(MailDate.text(Timestamp(seconds: seconds)) == text)
    }

    @Test func `a mail's mostly non-ASCII text has the shorter encoding`() {
        #expect(BodyText("Grüße").encoding == "quoted-printable")
        #expect(BodyText(String(repeating: "日本語", count: 50)).encoding == "base64")
        #expect(BodyText("").bytes == [0x0D, 0x0A])
        let quoted = String(decoding: BodyText("a=b \n\t\n.c\nFrom d\nFrom").bytes, as: UTF8.self)
        #expect(quoted == "a=3Db=20\r\n=09\r\n=2Ec\r\n=46rom d\r\nFrom\r\n")
    }
}
