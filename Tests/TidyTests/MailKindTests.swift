import Testing

/// `docs/mailed-proofs.md` says of each kind of mail whether it brings a proof.
@Suite("The kinds of mail")
struct MailKinds {
    @Test func `each kind of mail is named in docs/mailed-proofs.md, and no other is`() {
        let source = Repository.text("Sources/Mail/Templates/MailKind.swift")
        let kinds = Set(Pattern("case \\w+ = \"(\\w+)\"").matches(in: source).map { $0[1] })
        let page = Repository.text("docs/mailed-proofs.md")
        let named = page.split(separator: "## Mails").last.map(String.init) ?? ""
        let known = Set(Pattern("`([A-Z][A-Za-z]+)`").matches(in: named).map { $0[1] })
        #expect(kinds.count > 20)
        #expect(kinds == known)
    }
}
