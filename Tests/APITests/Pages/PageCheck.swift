import Foundation
import HTTP
import Testing

/// What holds for every page: it can be used with a keyboard and a screen reader, nothing on it runs
/// that is not ours, and nobody frames it.
struct PageCheck {
    private struct Tag {
        let name: String
        let attributes: [String: String]
    }

    private let page: String
    private let place: String
    private let tags: [Tag]

    init(_ page: String, _ place: String) {
        self.page = page
        self.place = place
        tags = Self.read(page)
    }

    func check(_ response: Response) {
        checkHeaders(response)
        checkStructure()
        checkForms()
        checkNothingRuns()
    }

    private func checkHeaders(_ response: Response) {
        let policy = response.headers["Content-Security-Policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; style-src 'self'"), "\(place)")
        #expect(policy.contains("frame-ancestors 'none'"), "\(place)")
        #expect(policy.contains("base-uri 'none'"), "\(place)")
        #expect(!policy.contains("unsafe"), "\(place)")
        #expect(response.headers["X-Frame-Options"] == "DENY", "\(place)")
        #expect(response.headers["Cache-Control"] == "no-store", "\(place)")
        #expect(response.headers["Referrer-Policy"] == "same-origin", "\(place)")
        #expect(response.headers["X-Content-Type-Options"] == "nosniff", "\(place)")
    }

    private func checkStructure() {
        #expect(page.hasPrefix("<!DOCTYPE html>"), "\(place)")
        #expect(["en", "de"].contains(all("html").first?.attributes["lang"]), "\(place)")
        #expect(all("main").count == 1 && all("header").count == 1, "\(place)")
        #expect(all("h1").count == 1, "\(place) has \(all("h1").count) first headings")
        let levels = tags.compactMap { tag in
            tag.name.count == 2 && tag.name.hasPrefix("h") ? Int(tag.name.dropFirst()) : nil
        }
        for (one, next) in zip(levels, levels.dropFirst()) {
            #expect(next <= one + 1, "\(place): a heading of level \(next) below \(one)")
        }
        #expect(!page.contains("<title></title>"), "\(place)")
        let ids = tags.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count, "\(place) has an id twice: \(ids)")
        for tag in tags {
            for name in tag.attributes["aria-describedby"]?.split(separator: " ") ?? [] {
                #expect(ids.contains(String(name)), "\(place): \(name) describes nothing")
            }
            let order = tag.attributes["tabindex"].flatMap { Int($0) } ?? 0
            #expect(order <= 0, "\(place) has an order of its own")
        }
        for image in all("img") { #expect(image.attributes["alt"] != nil, "\(place)") }
        #expect(all("meta").contains { $0.attributes["name"] == "viewport" }, "\(place)")
        #expect(!page.contains("user-scalable") && !page.contains("maximum-scale"), "\(place)")
        #expect(tags.filter { $0.attributes["autofocus"] != nil }.count <= 1, "\(place)")
    }

    private func checkForms() {
        let labelled = Set(all("label").compactMap { $0.attributes["for"] })
        for input in all("input") where input.attributes["type"] != "hidden" {
            let id = input.attributes["id"] ?? ""
            #expect(
                labelled.contains(id) || input.attributes["aria-label"] != nil,
                "\(place): \(input.attributes) has no label")
            #expect(input.attributes["autocomplete"] != nil, "\(place): \(id)")
        }
        for form in all("form") {
            #expect(form.attributes["method"] == "post", "\(place)")
            #expect(form.attributes["action"]?.hasPrefix("/") == true, "\(place)")
        }
        // Each form is bound to its browser.
        #expect(
            all("form").count
                == all("input").filter { $0.attributes["name"] == "form" }.count, "\(place)")
        for button in page.components(separatedBy: "<button").dropFirst() {
            let text = button.prefix(
                upTo: button.range(of: "</button>")?.lowerBound ?? button.endIndex
            )
            .drop { $0 != ">" }.dropFirst()
            #expect(!text.isEmpty, "\(place) has a button that says nothing")
        }
    }

    private func checkNothingRuns() {
        for script in all("script") {
            #expect(script.attributes["src"]?.hasPrefix("/assets/") == true, "\(place)")
        }
        #expect(!page.contains("<script>") && all("style").isEmpty, "\(place)")
        for tag in tags {
            for (name, value) in tag.attributes {
                #expect(!name.hasPrefix("on") && name != "style", "\(place): \(tag)")
                #expect(!value.lowercased().contains("javascript:"), "\(place): \(tag)")
            }
        }
    }

    private func all(_ name: String) -> [Tag] { tags.filter { $0.name == name } }

    /// Every opening tag. What the builder writes is regular.
    private static func read(_ page: String) -> [Tag] {
        page.components(separatedBy: "<").dropFirst().compactMap { piece in
            guard let first = piece.first, first.isLetter else { return nil }
            let name = String(piece.prefix { $0.isLetter || $0.isNumber })
            var attributes: [String: String] = [:]
            var rest = piece.dropFirst(name.count)
            while let start = rest.firstIndex(where: { $0 != " " }), rest[start] != ">" {
                rest = rest[start...]
                let key = String(rest.prefix { $0 != "=" && $0 != " " && $0 != ">" })
                rest = rest.dropFirst(key.count)
                guard rest.first == "=" else {
                    attributes[key] = ""
                    continue
                }
                rest = rest.dropFirst(2)
                let value = String(rest.prefix { $0 != "\"" })
                attributes[key] = value
                rest = rest.dropFirst(value.count + 1)
                if key.isEmpty { break }
            }
            return Tag(name: name, attributes: attributes)
        }
    }
}
