internal import HTML
internal import JSON
internal import Values

/// A case file as a page to print: its limits first, then each entry with its hash.
struct CasePage {
    static let mostRecords: Int64 = 10_000
    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

    let lines: [JSON]

    private var first: JSON { lines.first ?? .null }

    private func all(_ kind: String) -> [JSON] { lines.filter { $0["line"]?.string == kind } }

    var html: [UInt8] {
        let opened = Dictionary(
            all("opened").map { ($0["position"]?.integer ?? 0, $0) }, uniquingKeysWith: { $1 })
        return HTML.document(language: "en") {
            HTML.element(.meta, .charset("utf-8"))
            HTML.element(.title) { "Case file \(text(first["case"]))" }
            HTML.style(Self.sheet)
        } body: {
            HTML.element(.main) {
                HTML.element(.h1) {
                    "Case file: \(text(first["about"]?["kind"])) \(text(first["about"]?["id"]))"
                }
                front
                HTML.element(.h2) { "Records" }
                HTML.element(.table) {
                    HTML.element(.thead) {
                        head(["Position", "Time", "Event", "By", "Stream, version"])
                    }
                    for record in all("record") {
                        row(record, opened[record["position"]?.integer ?? 0])
                    }
                }
                HTML.element(.h2) { "Streams" }
                HTML.element(.table) {
                    HTML.element(.thead) { head(["Stream", "Versions", "Complete"]) }
                    HTML.element(.tbody) {
                        for stream in all("stream") {
                            HTML.element(.tr) {
                                cell(text(stream["stream"]))
                                cell("\(text(stream["first"])) to \(text(stream["last"]))")
                                cell(stream["complete"]?.bool == true ? "yes" : "no")
                            }
                        }
                    }
                }
                HTML.element(.h2) { "Signature" }
                HTML.element(.pre) { text(lines.last?["signature"]) }
            }
        }.bytes
    }

    private var front: HTML {
        HTML {
            HTML.element(.h2) { "What this shows, and what it does not" }
            HTML.element(.ol) {
                for limit in first["limits"]?.array ?? [] {
                    HTML.element(.li) { text(limit) }
                }
            }
            HTML.element(.dl) {
                for (name, value) in facts {
                    HTML.element(.dt) { name }
                    HTML.element(.dd) { value }
                }
            }
            HTML.element(.h2) { "Checkpoint" }
            HTML.element(.pre) { text(first["checkpoint"]) }
        }
    }

    private var facts: [(String, String)] {
        [
            ("Case", text(first["case"])), ("Realm", text(first["realm"])),
            ("Up to position", text(first["until"])), ("Asked for by", text(first["asker"])),
            ("At", text(first["asked_at"])), ("Reason", text(first["reason"])),
            ("Records", text(lines.last?["records"])), ("Opened", text(lines.last?["opened"])),
            ("Digest", text(lines.last?["digest"])),
        ]
    }

    private func row(_ line: JSON, _ opened: JSON?) -> HTML {
        let record = line["record"]?.string.flatMap { try? JSON.parse(Array($0.utf8)) } ?? .null
        let at = record["at"]?.integer.map { Timestamp(microseconds: $0).description } ?? ""
        return HTML.element(.tbody) {
            HTML.element(.tr) {
                cell(text(line["position"]))
                cell(at)
                cell(text(record["type"]))
                cell(text(record["meta"]?["actor"]))
                cell("\(text(record["stream"])), \(text(record["version"]))")
            }
            HTML.element(.tr) {
                HTML.element(.td, .fixed("colspan", "5")) {
                    HTML.element(.pre) { (record["data"] ?? .null).pretty() }
                    if let opened {
                        HTML.element(.p) { "Personal: \(text(opened["personal"]))" }
                        if let fields = opened["fields"] {
                            HTML.element(.pre) { fields.pretty() }
                        }
                    }
                    HTML.element(.p, .class("hash")) { text(line["hash"]) }
                }
            }
        }
    }

    private func head(_ names: [String]) -> HTML {
        HTML.element(.tr) {
            for name in names { HTML.element(.th) { name } }
        }
    }

    private func cell(_ text: String) -> HTML { HTML.element(.td) { text } }

    private func text(_ value: JSON?) -> String {
        switch value {
        case nil, .null?: ""
        case .string(let text)?: text
        case let value?: String(decoding: value.canonical(), as: UTF8.self)
        }
    }

    private static let sheet = """
        body{font:11pt/1.4 serif;margin:2cm}h1{font-size:16pt}h2{font-size:13pt;break-after:avoid}\
        table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #999;padding:2pt 4pt;\
        text-align:left;vertical-align:top;overflow-wrap:anywhere}tbody{break-inside:avoid}\
        pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:2pt 0}.hash{font:8pt monospace;margin:0}\
        dt{font-weight:bold}dd{margin:0 0 4pt}
        """
}
