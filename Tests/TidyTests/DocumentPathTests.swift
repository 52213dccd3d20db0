import Foundation
import Testing

/// The documents for contributors name files and folders, and links lead to documents.
@Suite("The paths in documents")
struct DocumentPaths {
    /// What exists: every file, and every folder that has one.
    private static let existing: Set<String> = {
        var paths = Set(Repository.paths)
        for path in Repository.paths {
            var parts = path.split(separator: "/")
            while parts.count > 1 {
                parts.removeLast()
                paths.insert(parts.joined(separator: "/"))
            }
        }
        return paths
    }()

    @Test(arguments: ["docs/architecture.md", "docs/extending.md", "docs/glossary.md"])
    func `every file and folder that a document for contributors names exists`(document: String) {
        let path = Pattern("`((?:Sources|Tests|Schema|Projections|docs|deploy)/[^`]*)`")
        let found = path.matches(in: Repository.text(document)).map { $0[1] }
        #expect(!found.isEmpty)
        for path in found where !Self.existing.contains(path) {
            Issue.record("\(document): there is no \(path)")
        }
    }

    @Test func `every relative link in a document leads to a file or folder`() {
        let link = Pattern("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)")
        let documents = Repository.paths.filter { $0.hasSuffix(".md") && !$0.hasPrefix("Tests/") }
        #expect(documents.count > 100)
        for document in documents {
            let folder = document.split(separator: "/").dropLast()
            let targets = link.matches(in: Repository.text(document)).map { $0[1] }
            for target in targets where !target.contains(":") {
                let path = Self.resolved(target, from: Array(folder))
                if !Self.existing.contains(path) {
                    Issue.record("\(document): a link leads to \(path), which is not there")
                }
            }
        }
    }

    /// A folder with a page of its own is listed by that, and lists its pages.
    @Test func `every page stands in the index of the documentation`() {
        let link = Pattern("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)")
        let listed = Set(
            link.matches(in: Repository.text("docs/README.md"))
                .map { Self.resolved($0[1], from: ["docs"]) })
        for page in Repository.paths
        where page.hasPrefix("docs/") && page.hasSuffix(".md")
            && !page.hasPrefix("docs/decisions/0") && page != "docs/README.md"
        {
            #expect(listed.contains(page), "docs/README.md lists \(page) nowhere")
        }
    }

    @Test func `every cache that docs/caches.md lists is a type of the code`() {
        let declared = Pattern("\\b(?:struct|enum|class|actor|protocol)\\s+(\\w+)")
        let types = Set(
            Repository.swift(in: "Sources").flatMap { declared.matches(in: $0.text) }
                .map { $0[1] })
        let name = Pattern("`([A-Z]\\w+)(?:\\.\\w+)*`")
        let rows = Repository.text("docs/caches.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("| ") }
        let cells = rows.compactMap { $0.components(separatedBy: " | ").first }
        let named = cells.flatMap { name.matches(in: $0) }.map { $0[1] }
        #expect(named.count > 30)
        for type in named where !types.contains(type) {
            Issue.record("docs/caches.md: there is no type \(type)")
        }
    }

    private static func resolved(_ target: String, from folder: [Substring]) -> String {
        var parts = folder
        for part in target.split(separator: "/") where part != "." {
            if part == ".." {
                _ = parts.popLast()
            } else {
                parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }
}
