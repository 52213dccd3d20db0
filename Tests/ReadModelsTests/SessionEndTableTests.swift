import EventSourcing
import Foundation
import Postgres
import Testing
import Values

@testable import ReadModels

private typealias ID = Values.UUID

/// More than a page of any list, of each kind.
private let many = 600

/// The table of `docs/session-ends.md`: more sessions of each kind than a page has, and what each end leaves of them.
@Suite struct `The end of many sessions` {
    private enum Kind: String, CaseIterable {
        case browser = "app in a browser"
        case offline = "app with offline access"
        case exchanged = "what the app's token was exchanged for"
        case installation = "flagship app"
        case webApp = "web app of the flagship app"
        case person = "person on a device"
        case service = "service below the person"
        case other = "other app below the service"

        var client: ID {
            switch self {
            case .browser, .offline: app
            case .exchanged: gateway
            case .installation, .webApp: phone
            case .person: version
            case .service, .other: campus
            }
        }

        func session(_ number: Int) -> ID {
            ID(high: 100 + UInt64(Self.allCases.firstIndex(of: self) ?? 0), low: UInt64(number))
        }

        /// What its terms say beside those of all.
        func terms(_ number: Int) -> String {
            func below(_ holder: String, _ above: ID...) -> String {
                let names = ([device] + above).map { "\"\($0)\"" }.joined(separator: ",")
                return
                    #","holder":"\#(holder)","kid":"k","federated_device":"\#(machine)","superiors":[\#(names)]"#
            }
            let person = Kind.person.session(number)
            return switch self {
            case .browser: #","offline":false,"browser":"\#(window)""#
            case .offline: #","offline":true,"browser":"\#(window)""#
            case .installation: ""
            case .exchanged: #","exchanged":"\#(Kind.offline.session(number))","actors":[]"#
            case .webApp: #","exchanged":"\#(Kind.installation.session(number))","actors":[]"#
            case .person: below("person")
            case .service: below("service", person)
            case .other: below("application", person, Kind.service.session(number))
            }
        }
    }

    private static let (app, gateway, phone, version, campus) = (
        ID(high: 9, low: 1), ID(high: 9, low: 2), ID(high: 9, low: 3), ID(high: 9, low: 4),
        ID(high: 9, low: 5)
    )
    private static let (account, device, machine, window) = (
        ID(high: 8, low: 1), ID(high: 8, low: 2), ID(high: 8, low: 3), ID(high: 8, low: 4)
    )

    /// What happens by each end, by the name of its column.
    private static let ends: [(String, Happening)] = [
        ("access of the app removed", removed("client", app)),
        ("access of the flagship app removed", removed("client", phone)),
        ("access of the device's app removed", removed("client", version)),
        ("refused by the service", removed("client", campus)),
        ("device ended", removed("federated_device", machine)),
        ("many signed out with their browser", removed("browser", window)),
        (
            "many with offline access signed out with it",
            removed(#"offline":true,"browser"#, window)
        ),
        ("signed out everywhere", Happening("account.stamp_rotated", account, version: 2)),
        ("account disabled", Happening("account.disabled", account, version: 2)),
        (
            "deletion scheduled",
            Happening("account.deletion_scheduled", account, version: 2, #"{"due":1900000000}"#)
        ),
        ("app deleted", Happening("client.deleted", app, version: 2)),
        ("app disabled", Happening("client.disabled", app, version: 2)),
    ]

    private static func removed(_ place: String, _ stream: ID) -> Happening {
        Happening(
            "account.access_removed", account, version: 2,
            #"{"\#(place)":"\#(stream)","removals":1}"#)
    }

    private let world: World
    private let realm: RealmID

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        var events = [
            Happening("realm.created", .zero, version: 1, #"{"display_name":"One"}"#),
            Happening(
                "account.registered", Self.account, version: 1,
                #"{"mailbox":"\#(Self.account)","confirmed":true,"origin":"code"}"#),
            Self.opened(
                Self.device, Self.version, of: nil, #","holder":"device","kid":"k","superiors":[]"#),
        ]
        for client in [Self.app, Self.gateway, Self.phone, Self.version, Self.campus] {
            events.append(
                Happening("client.registered", client, version: 1, #"{"client_id":"\#(client)"}"#))
        }
        try world.append(events, in: "one")
        for kind in Kind.allCases {
            try world.append(
                (0..<many).map { number in
                    Self.opened(
                        kind.session(number), kind.client, of: Self.account, kind.terms(number))
                }, in: "one")
        }
    }

    private static func opened(
        _ session: ID, _ client: ID, of account: ID?, _ more: String
    ) -> Happening {
        let holder = account.map { #""account":"\#($0)","# } ?? ""
        return Happening(
            "session.opened", session, version: 1,
            """
            {\(holder)"stamp":0,"client":"\(client)","client_id":"\(client)","scope":[],
            "resources":[],"amr":[],"opened_at":1\(more.contains("offline") ? "" : #","offline":true"#),
            "expires_at":1900000000\(more)}
            """)
    }

    /// How many of each kind live, with all that they hang on.
    private func living() throws -> [Kind: Int] {
        var views: [ID: SessionView] = [:]
        for ids in Kind.allCases.map({ kind in (0..<many).map(kind.session) }) + [[Self.device]] {
            let found = try SessionView.byID.rows(
                Parameters(in: realm, any: ids), over: world.superuser,
                key: { $0.identifier($1, 1) }
            ).get()
            for (id, view) in found { views[id] = try view.get() }
        }
        func lives(_ id: ID) -> Bool {
            guard let view = views[id] else { return false }
            return !view.isOver && view.above.allSatisfy(lives)
        }
        var counts: [Kind: Int] = [:]
        for kind in Kind.allCases {
            counts[kind] = (0..<many).count { lives(kind.session($0)) }
        }
        return counts
    }

    @Test func `each end leaves of more sessions than a page has what docs/session-ends.md says`()
        throws
    {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/session-ends.md").standardized, encoding: .utf8)
        let lines = page.components(separatedBy: "\n").drop { !$0.hasPrefix("|") }
        let table = lines.prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { String($0).trimmingCharacters(in: .whitespaces) }
        }
        let columns = try #require(table.first).dropFirst()
        #expect(Array(columns) == Self.ends.map(\.0))
        #expect(table.dropFirst(2).map(\.first) == Kind.allCases.map(\.rawValue))
        #expect(try living() == Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, many) }))
        for (name, event) in Self.ends {
            try world.superuser.run("begin")
            try World.appendWithin([event], in: "one", world.superuser)
            let found = try living()
            let enabled = Happening("client.enabled", Self.app, version: 3)
            if event.type == "client.disabled" {
                try World.appendWithin([enabled], in: "one", world.superuser)
            }
            let later = try living()
            try world.superuser.run("rollback")
            let index = try #require(columns.firstIndex(of: name))
            for row in table.dropFirst(2) {
                let kind = try #require(Kind(rawValue: row[0]))
                #expect(["ends", "rests", "stays"].contains(row[index]))
                #expect(
                    found[kind] == (row[index] == "stays" ? many : 0), "\(kind.rawValue): \(name)")
                #expect(
                    later[kind] == (row[index] == "ends" ? 0 : many), "\(kind.rawValue): \(name)")
            }
        }
    }

    @Test func `each session that is opened after an end of its client or device lives`() throws {
        for (index, end) in Self.ends.map(\.1).filter({ $0.type == "account.access_removed" })
            .enumerated()
        {
            var end = end
            end.version = index + 2
            end.data = end.data.replacing(#""removals":1"#, with: #""removals":\#(index + 1)"#)
            try world.append([end], in: "one")
        }
        #expect(try living().values.allSatisfy { $0 == 0 || $0 == many })
        let later = Self.opened(
            ID(high: 99, low: 1), Self.version, of: Self.account,
            #","removals":7,"holder":"person","kid":"k","federated_device":"\#(Self.machine)","superiors":["\#(Self.device)"]"#
        )
        let between = Self.opened(
            ID(high: 99, low: 2), Self.version, of: Self.account,
            #","removals":4,"holder":"person","kid":"k","federated_device":"\#(Self.machine)","superiors":["\#(Self.device)"]"#
        )
        try world.append([later, between], in: "one")
        let found = try SessionView.byID.rows(
            Parameters(in: realm, any: [later.stream, between.stream]), over: world.superuser,
            key: { $0.identifier($1, 1) }
        ).get()
        #expect(try found[later.stream]?.get().isOver == false)
        #expect(try found[between.stream]?.get().isOver == true)
    }
}
