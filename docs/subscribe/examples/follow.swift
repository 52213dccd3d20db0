// Follows a realm of Urd and prints its events, on Apple's systems: swiftc -parse-as-library follow.swift
import Foundation

struct Event: Decodable {
    let type: String
    let position: Int64?
    let cursor: String?
}

struct Ended: Error {
    let why: String
}

@main struct Follow {
    static let place = URL(filePath: "cursor")

    static func read(_ handle: (Event) throws -> Void) async throws {
        let values = ProcessInfo.processInfo.environment
        let address = "\(values["URD_URL"]!)/api/admin/realms/\(values["URD_REALM"]!)/feed?from=start"
        var request = URLRequest(url: URL(string: address)!, timeoutInterval: 45)
        request.setValue("Bearer \(values["URD_ADMIN_KEY"]!)", forHTTPHeaderField: "Authorization")
        request.setValue("application/x-ndjson", forHTTPHeaderField: "Accept")
        if let cursor = try? String(contentsOf: place, encoding: .utf8) {
            request.setValue(cursor, forHTTPHeaderField: "Last-Event-ID")
        }
        let (bytes, answer) = try await URLSession.shared.bytes(for: request)
        let status = (answer as? HTTPURLResponse)?.statusCode ?? 0
        if [429, 502, 503, 504].contains(status) { return }
        guard status == 200 else { throw Ended(why: "status \(status)") }
        for try await line in bytes.lines {
            let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            if event.type == "urd.error" { throw Ended(why: line) }
            if !event.type.hasPrefix("urd.") { try handle(event) }
            try event.cursor.map { try Data($0.utf8).write(to: place, options: .atomic) }
        }
    }

    static func main() async throws {
        var pause = 1.0
        while true {
            do {
                try await read { event in
                    print(event.position ?? 0, event.type)
                    pause = 1
                }
            } catch let ended as Ended { throw ended } catch {}
            try await Task.sleep(for: .seconds(pause * .random(in: 0.5...1)))
            pause = min(pause * 2, 30)
        }
    }
}
