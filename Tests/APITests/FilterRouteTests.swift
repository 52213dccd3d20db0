import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `Lists with a filter over HTTP` {
    private let audit = "/api/admin/realms/acme/audit-trail"
    private let history = "/api/admin/realms/acme/login-history"
    private let events = "/api/admin/realms/acme/events"

    private func query(_ filter: String, _ more: String = "limit=200") -> String {
        Form.encode([(name: "filter", value: filter)]) + "&" + more
    }

    private func positions(_ answer: Answered) -> [Int64] {
        #expect(answer.status == .ok, "\(answer.json)")
        return answer.json["items"]?.array?.compactMap { $0["position"]?.integer } ?? []
    }

    /// Somebody whose code was wrong, from the network of Eve's session.
    private func world() async throws -> World {
        let world = try await World()
        try await world.happen(
            Session.self,
            .refused(
                RefusedSignIn(
                    method: .nativeOTP, reason: "invalid_code", account: nil,
                    client: UUID.zero, clientID: "phone", app: nil,
                    from: SignInPlace(
                        source: world.derivedKeys.mint.pseudonym(
                            ofNetwork: "203.0.113.7")))), in: UUID.random())
        return world
    }

    @Test func `a filter means the same to the audit trail, the events and the feed`() async throws
    {
        let world = try await world()
        let account = try #require(world.names["account_id"])
        let client = try #require(world.names["client_id"])
        for filter in [
            #"type sw "session.""#, #"not (actor sw "admin:")"#, "account eq \"\(account)\"",
            "client eq \"\(client)\" or reason pr", #"mail eq "eve@acme.example""#,
            #"address eq "203.0.113.7""#, #"outcome eq "refused" and method pr"#,
            "not (account pr) and position gt 3", #"fields.client_name eq "Desk""#,
        ] {
            let trail = positions(try await world.send(.get, audit, query: query(filter)))
            #expect(!trail.isEmpty, "\(filter)")
            let listed = positions(try await world.send(.get, events, query: query(filter)))
            #expect(listed == trail, "\(filter)")
            var feed = try await world.follow(query(filter, "from=start&to=internal"))
            _ = try await feed.begin()
            var followed: [Int64] = []
            while followed.count < trail.count, let frame = await feed.next() {
                if let position = frame.json["position"]?.integer, frame.event != "urd.progress" {
                    followed.append(position)
                }
            }
            #expect(followed == trail, "\(filter)")
            await feed.close()
        }
    }

    @Test func `a filter and parameters hold together`() async throws {
        let world = try await world()
        let account = try #require(world.names["account_id"])
        let all = positions(
            try await world.send(.get, audit, query: "account=\(account)&limit=200"))
        let opened = try await world.send(
            .get, audit, query: query(#"type eq "session.opened""#, "account=\(account)"))
        #expect(positions(opened).count == 1 && all.count > 1)
        #expect(Set(positions(opened)).isSubset(of: all))
        let newest = try await world.send(
            .get, audit, query: query("position gt 2", "order=newest&limit=2"))
        #expect(positions(newest).count == 2 && newest.json["more"] == true)
        let next = try #require(newest.json["next"]?.string)
        let rest = try await world.send(
            .get, audit, query: query("position gt 2", "order=newest&limit=200&after=\(next)"))
        #expect(positions(rest).last == 3)
    }

    @Test func `the login history is asked for each of its columns`() async throws {
        let world = try await world()
        let account = try #require(world.names["account_id"])
        let session = try #require(world.names["session_id"])
        for asked in [
            "account=\(account)", "session=\(session)", "client=phone", "reason=invalid_code",
            "method=urn:cocoar:otp", "device=iPhone", "outcome=refused", "address=203.0.113.7",
            "mail=eve@acme.example", query(#"account pr"#), query("reason pr and not (session pr)"),
            query("amr pr"), query(#"fields.client_id eq "phone""#),
        ] {
            let found = positions(try await world.send(.get, history, query: asked))
            #expect(!found.isEmpty, "\(asked)")
        }
        let installation = try #require(world.names["installation"])
        for nothing in [
            "account=\(UUID.random())", "client=\(installation)", "reason=other_reason",
            "address=203.0.113.8",
            "mail=nobody@acme.example", "country=CH", "channel=sms", "end_reason=revoked",
            query(#"account pr and reason pr"#),
        ] {
            let found = positions(try await world.send(.get, history, query: nothing))
            #expect(found.isEmpty, "\(nothing)")
        }
    }

    @Test func `sign-ins are counted by what is asked`() async throws {
        let world = try await world()
        func counts(_ query: String) async throws -> [JSON] {
            let answer = try await world.send(.get, history + "/counts", query: query)
            #expect(answer.status == .ok, "\(answer.json)")
            return answer.json["items"]?.array ?? []
        }
        let outcomes = try await counts("group_by=outcome")
        #expect(
            outcomes == [
                ["value": "refused", "count": 1, "signed_in": 0, "refused": 1],
                ["value": "signed_in", "count": 1, "signed_in": 1, "refused": 0],
            ])
        let day = try #require(try await counts("group_by=day").first)
        #expect(day["count"] == 2 && day["value"]?.string?.utf8.count == 10)
        #expect(try await counts("group_by=hour&outcome=refused").first?["count"] == 1)
        #expect(try await counts("group_by=client&reason=other_reason").isEmpty)
        #expect(try await counts("group_by=country").first?["value"] == .null)
        #expect(try await counts("").first?["value"]?.string?.utf8.count == 10)
        #expect(
            try await world.send(.get, history + "/counts", query: "group_by=x").problem
                == .invalidParameter)
    }

    @Test func `the index is asked for what a filter demands by itself`() throws {
        let (one, other) = (UUID.random(), UUID.random())
        func references(_ filter: String) throws -> EventReferences {
            EventReferences(
                demandedBy: try FilterText.expression(of: filter, EventAttributes.ofEvents))
        }
        #expect(
            try references(#"type pr and account eq "\#(one)" and device in ["Mac"]"#)
                == EventReferences(account: one))
        #expect(
            try references(#"account eq "\#(other)" and session eq "\#(one)""#)
                == EventReferences(session: one))
        #expect(try references(#"device eq "Mac""#) == EventReferences(device: "Mac"))
        for none in [
            #"account ne "\#(one)""#, #"not (account eq "\#(one)")"#,
            #"account eq "\#(one)" or type pr"#, #"account in ["\#(one)", "\#(other)"]"#,
            #"account pr"#, #"stream eq "\#(one)""#,
        ] {
            #expect(try references(none).isEmpty, "\(none)")
        }
    }

    @Test func `a filter that cannot be read says where and what could stand there`() async throws {
        let world = try await World()
        for path in [audit, events, history, history + "/counts", "/api/admin/realms/acme/feed"] {
            let more =
                path.hasSuffix("counts")
                ? "group_by=day" : path.hasSuffix("feed") ? "from=now" : "limit=1"
            let answer = try await world.send(.get, path, query: query("actor eq \"x\" ad", more))
            #expect(answer.problem == .invalidFilter && answer.status.code == 400, "\(path)")
            #expect(answer.json["at"] == 13 && answer.json["expected"] == "and, or, or its end")
            #expect(answer.field == "filter")
        }
        for (filter, place) in [
            (#"address eq "nowhere""#, 11), (#"mail eq "nobody""#, 8),
            // Fields have their times in seconds; when an event happened is a text.
            ("at gt 5", 6),
            (#"type pr and client eq "no-such""#, 22),
        ] {
            let answer = try await world.send(.get, audit, query: query(filter))
            #expect(answer.problem == .invalidFilter, "\(filter) \(answer.json)")
            #expect(answer.json["at"]?.integer == Int64(place), "\(filter)")
        }
        for wrong in ["address=nowhere", "mail=nobody", "client=no-such"] {
            let answer = try await world.send(.get, audit, query: wrong)
            #expect(answer.problem == .invalidParameter, "\(wrong)")
            #expect(answer.field == String(wrong.prefix { $0 != "=" }))
        }
    }

    @Test func `a question that is too wide has a cursor to go on`() async throws {
        let world = try await World()
        world.log.stopScans(at: 3)
        let wide = try await world.send(.get, audit, query: query(#"actor eq "nobody""#))
        #expect(wide.problem == .tooWide && wide.status.code == 422)
        #expect(wide.json["scanned_to"] == 3 && wide.json["cursor"] == "1:3")
        let some = try await world.send(.get, audit, query: query("position le 3"))
        #expect(positions(some) == [1, 2, 3])
        #expect(some.json["more"] == true && some.json["next"] == "1:3")
        let logins = try await world.send(.get, history, query: "reason=other_reason")
        #expect(logins.problem == .tooWide && logins.json["cursor"] == "1:3")
        let counts = try await world.send(.get, history + "/counts", query: "group_by=day")
        #expect(counts.json["more"] == true && counts.json["next"] == "1:3")
        #expect(counts.json["items"]?.array?.isEmpty == false)
    }

    @Test func `a question about an address is noted in the request's line, and nowhere else`()
        async throws
    {
        let world = try await World()
        func line(_ path: String, _ query: String) async throws -> JSON {
            let head = try await world.events().count
            let before = world.lines.all.count
            _ = try await world.send(.get, path, query: query)
            #expect(try await world.events().count == head)
            let line = try #require(world.lines.all.dropFirst(before).last)
            for hidden in ["203.0.113.7", "eve@"] { #expect(!line.contains(hidden)) }
            return try JSON.parse(Array(line.utf8.dropLast()))
        }
        for asked in [
            "address=203.0.113.7", "mail=eve@acme.example",
            query(#"not (mail eq "eve@acme.example")"#),
        ] {
            for path in [audit, history] {
                #expect(try await line(path, asked)["subject_search"] == true, "\(asked)")
            }
        }
        #expect(try await line(audit, query("account pr"))["subject_search"] == nil)
    }

    @Test func `a limited key asks in filters no more than what it is shown`() async throws {
        let world = try await World()
        let audits = try await world.limitedKey([.auditRead])
        let reads = try await world.limitedKey([.auditRead, .eventsRead])
        for (filter, isShown) in [
            (#"type sw "session.""#, true), ("account pr", true), ("position gt 1", true),
            ("reason pr", false), (#"fields.client_name eq "Desk""#, false),
            (#"outcome eq "refused""#, false), ("not (type pr and amr pr)", false),
        ] {
            let asked = query(filter)
            let answer = try await world.send(.get, audit, query: asked, key: audits)
            #expect(answer.problem == (isShown ? nil : .forbidden), "\(filter)")
            let allowed = try await world.send(.get, audit, query: asked, key: reads)
            #expect(allowed.status == .ok)
        }
        let histories = try await world.limitedKey([.historyRead])
        for (filter, isShown) in [
            ("reason pr or device pr", true), ("amr pr", false), ("fields.scope pr", false),
        ] {
            let answer = try await world.send(.get, history, query: query(filter), key: histories)
            #expect(answer.problem == (isShown ? nil : .forbidden), "\(filter)")
        }
        #expect(
            try await world.send(.get, audit, query: query("type pr"), key: histories).problem
                == .forbidden)
    }

    @Test func `a filter asks one realm alone`() async throws {
        let world = try await World()
        _ = try await world.send(
            .post, "/api/admin/realms", body: ["realm": "other", "display_name": "Other"])
        let account = try #require(world.names["account_id"])
        for filter in ["account eq \"\(account)\"", #"mail eq "eve@acme.example""#] {
            let other = try await world.send(
                .get, "/api/admin/realms/other/audit-trail", query: query(filter))
            #expect(positions(other).isEmpty)
        }
        let denied = try await world.send(
            .get, "/api/admin/realms/other/audit-trail", query: query("type pr"),
            key: world.narrowKey)
        #expect(denied.problem == .forbidden)
    }

    @Test func `places of many sign-ins are read at once`() async throws {
        let world = try await World()
        for _ in 0..<10 {
            let ada = UUID(world.names["account_id"] ?? "")
            try await world.happen(
                Session.self, .opened(world.terms(of: ada, client: "phone")), in: UUID.random())
        }
        let before = world.log.placesRead
        let answer = try await world.send(
            .get, history, query: "open=true&open_reason=Incident&client=phone")
        #expect(positions(answer).count >= 10)
        #expect(answer.json["items"]?.array?.last?["address"] != nil)
        #expect(world.log.placesRead == before + 1)
    }
}
