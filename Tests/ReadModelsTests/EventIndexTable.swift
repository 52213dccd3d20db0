import EventSourcing
import Identity
import Postgres
import Testing
import Values

@testable import ReadModels

/// The table of `docs/event-index.md`, made from what the read model does with one event of each type of the
/// catalogue: every id in it is another one, so that it shows where it came from.
enum EventIndexTable {
    static let kinds = ["account", "session", "browser", "client", "source", "device"]

    static func rows(in world: World) throws -> [String] {
        var lines: [String] = []
        for (index, shape) in EventCatalogue.all.sorted(by: { $0.name < $1.name }).enumerated() {
            var scene = Scene(number: UInt64(index + 1), shape)
            let events = scene.events()
            try world.append(events, in: "one")
            let build = try #require(try world.live("event_index"))
            let step = try Step.project("one", "event_index", build, page: 1000, world.owner)
            #expect(step?.halted == nil, "\(shape.name)")
            let found = try world.superuser.executeOnce(
                """
                select \(kinds.map { "coalesce(m.\($0)::text, '')" }.joined(separator: ", "))
                from urd.event_index m
                where m.realm = 'one'
                    and m.position = (select max(position) from urd.event where realm = 'one')
                """, Parameters())
            let cells = kinds.indices.map { column in
                let labels = (0..<found.count).map { scene.label(found.text($0, column)) }
                return Set(labels).sorted().joined(separator: ", ")
            }.map { $0.isEmpty ? "–" : $0 }
            lines.append("| `\(shape.name)` | \(cells.joined(separator: " | ")) |")
        }
        return lines
    }
}

/// An event with all that it may name, behind those that say whose it is.
private struct Scene {
    private let number: UInt64
    private let shape: EventShape
    private var labels: [String: String] = [:]
    private var last: UInt64 = 0

    init(number: UInt64, _ shape: EventShape) {
        self.number = number
        self.shape = shape
    }

    func label(_ value: String) -> String { labels[value] ?? (value.isEmpty ? "" : "?") }

    mutating func events() -> [Happening] {
        let stream = id("its stream")
        var versions: [UUID: Int] = [:]
        var events: [Happening] = []
        func happen(_ type: String, _ stream: UUID, _ members: [String]) {
            versions[stream, default: 0] += 1
            events.append(
                Happening(
                    type, stream, version: versions[stream] ?? 1,
                    "{\(members.joined(separator: ","))}"))
        }
        let isLetter =
            shape.name.hasPrefix("mail.") || shape.name.hasPrefix("logout_notice.")
        let sender = isLetter ? id("`session.opened`") : stream
        for type in Self.earlier(shape.name) {
            let names = Set(EventCatalogue.all.first { $0.name == type }?.fields.map(\.name) ?? [])
            var members = ["account", "client", "link"].filter { names.contains($0) }.map {
                "\"\($0)\":\"\(id("`\(type)`"))\""
            }
            if isLetter {
                members += ["mail", "notice"].filter { names.contains($0) }.map {
                    "\"\($0)\":\"\(stream)\""
                }
            }
            happen(type, sender, members)
        }
        if shape.name == "realm.subject_erased" {
            happen("account.registered", id("`subject`"), [])
        }
        happen(shape.name, stream, shape.fields.filter { !$0.isSealed }.compactMap { member($0) })
        return events
    }

    /// What says whose the events are that do not say it themselves.
    private static func earlier(_ type: String) -> [String] {
        let family = type.prefix { $0 != "." }
        switch (family, type) {
        case (_, "device.redeemed"): return ["device.requested", "device.approved"]
        case ("device", _): return type == "device.requested" ? [] : ["device.requested"]
        case ("session", "session.ended"), ("session", "session.refreshed"),
            ("session", "session.detached"):
            return ["session.opened"]
        case ("browser", "browser.ended"): return ["browser.opened"]
        case ("mailbox", "mailbox.assigned"), ("link", "link.issued"): return []
        case ("mailbox", _), ("otp", _), ("link", _): return ["mailbox.assigned"]
        case ("mailed_code", _): return type.hasSuffix("issued") ? [] : ["mailed_code.issued"]
        case ("mailed_link", _): return type.hasSuffix("issued") ? [] : ["mailed_link.issued"]
        case ("notification", _):
            return type.hasSuffix("requested") ? [] : ["notification.requested"]
        case ("owner", _): return type == "owner.appointed" ? [] : ["owner.appointed"]
        case ("passkey", "passkey.used"): return ["passkey.enrolled"]
        case ("passphrase", _): return type == "passphrase.set" ? [] : ["passphrase.set"]
        case ("totp", _), ("recovery_code", _), ("recovery_codes", _):
            return type == "totp.offered" ? [] : ["totp.offered"]
        case ("session_code", "session_code.used"): return ["session_code.issued"]
        case ("upstream_session", "upstream_session.ended"): return ["upstream_session.used"]
        case ("mail", _): return ["link.issued"]
        case ("logout_notice", _): return ["session.opened", "session.ended"]
        default: return []
        }
    }

    /// What an event says that the index may look at.
    private mutating func member(_ field: EventField) -> String? {
        let label = "`\(field.name)`"
        switch (field.name, field.type) {
        case ("subject", .uuid):
            return #""subject":"\#(labels.first { $0.value == label }?.key ?? "")""#
        case (_, .uuid):
            return "\"\(field.name)\":\"\(id(label))\""
        case (_, .list(.uuid)):
            return "\"\(field.name)\":[\"\(id(label))\",\"\(id(label))\"]"
        case ("source", .text), ("device", .text):
            let text = "\(field.name)-\(number)"
            labels[text] = label
            return "\"\(field.name)\":\"\(text)\""
        case (_, .boolean): return "\"\(field.name)\":true"
        default: return nil
        }
    }

    private mutating func id(_ label: String) -> UUID {
        last += 1
        let id = UUID(high: number, low: last)
        labels[id.description] = label
        return id
    }
}
