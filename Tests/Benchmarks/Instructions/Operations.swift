import JSON
import Synchronization

/// What is counted.
extension Operation {
    static let all = [
        Operation(
            name: "refresh", summary: "refresh with rotation, no ID token", times: 40,
            prepare: { try refreshing(scope: "offline_access", $0) }),
        Operation(
            name: "refresh-openid", summary: "the same with an ID token", times: 40,
            prepare: { try refreshing(scope: "openid+offline_access", $0) }),
        Operation(
            name: "introspection", summary: "introspection of a reference token", times: 100,
            prepare: { try introspections($0) }),
        Operation(
            name: "client-credentials", summary: "a service's token", times: 40,
            prepare: { repeating(try Service($0).request, $0) }),
        Operation(
            name: "otp", summary: "sign-in by mailed code: request, inbox, redeem", times: 12,
            prepare: { try signIns($0) }),
        Operation(
            name: "passkey", summary: "a passkey redeemed", times: 25,
            prepare: { try passkeys($0) }),
        Operation(
            name: "page", summary: "sign-in on a page by passkey, code, tokens", times: 12,
            prepare: { try logins($0) }),
        Operation(
            name: "append", summary: "an administrator's command of one event", times: 40,
            prepare: { try commands($0) }),
        Operation(
            name: "userinfo", summary: "user info", times: 100, prepare: { try userInfo($0) }),
        Operation(
            name: "discovery", summary: "discovery of OpenID Connect", times: 200,
            prepare: { repeating($0.requests.get("/.well-known/openid-configuration"), $0) }),
        Operation(
            name: "feed-frame", summary: "an event to a reader of the feed, from the ring",
            times: 1, prepare: { try await frames($0) }),
    ]

    private static func introspections(_ server: DevelopmentServer) throws -> Ready {
        let service = try Service(server)
        return repeating(service.introspection(of: try service.token()), server)
    }

    private static func userInfo(_ server: DevelopmentServer) throws -> Ready {
        let person = try Mailbox(server).signIn("userinfo@example.org")
        let answer = try Line(port: server.port).send(server.requests.refresh(person))
        guard let access = answer.json?["access_token"]?.string else { throw answer.failure }
        return repeating(server.requests.get("/connect/userinfo", token: access), server)
    }

    /// People who are known sign in again.
    private static func signIns(_ server: DevelopmentServer) throws -> Ready {
        let mailboxes = try (0..<sessions).map { _ in try Mailbox(server) }
        return crowd { caller in
            { _ = try mailboxes[caller].signIn("known-\(caller)-\($0 % 3)@example.org") }
        }
    }

    private static func logins(_ server: DevelopmentServer) throws -> Ready {
        let people = try holders(server, "page")
        let site = try Site(server, client: "counted")
        return crowd { caller in
            let (browser, line) = (try Browser(site), try Line(port: server.port))
            return { _ in
                browser.forget()
                try site.redeem(browser.code(for: site, people[caller]), over: line)
            }
        }
    }

    private static func refreshing(scope: String, _ server: DevelopmentServer) throws -> Ready {
        let mailbox = try Mailbox(server)
        let kept = Mutex(
            try (0..<sessions).map {
                try mailbox.signIn("refresher-\($0)@example.org", scope: scope)
            })
        return crowd { caller in
            let line = try Line(port: server.port)
            return { _ in
                let token = kept.withLock { $0[caller] }
                let answer = try line.send(server.requests.refresh(token))
                guard let next = answer.refreshToken else { throw answer.failure }
                kept.withLock { $0[caller] = next }
            }
        }
    }

    private static func holders(
        _ server: DevelopmentServer, _ name: String
    ) throws -> [PasskeyHolder] {
        let mailbox = try Mailbox(server)
        return try (0..<sessions).map {
            try PasskeyHolder("\(name)-\($0)@example.org", mailbox, server)
        }
    }

    /// What is redeemed was begun and signed before: what is counted is the server's part.
    private static func passkeys(_ server: DevelopmentServer) throws -> Ready {
        let people = try holders(server, "holder")
        return { times in
            let line = try Line(port: server.port)
            let answers = try people.map { person in
                try (0..<times).map { _ in try person.answer(line) }
            }
            let redeeming = crowd { caller in
                let line = try Line(port: server.port)
                return { try people[caller].redeem(answers[caller][$0], line) }
            }
            return try await redeeming(times)
        }
    }

    /// Each session has a client of its own to change.
    private static func commands(_ server: DevelopmentServer) throws -> Ready {
        let clients = try (0..<sessions).map { number in
            let name = "changed-\(number)"
            _ = try server.administer(
                "POST", "/clients",
                #"{"client_id": "\#(name)", "grant_types": ["client_credentials"]}"#)
            return name
        }
        let number = Atomic<Int>(0)
        return crowd { caller in
            let line = try Line(port: server.port)
            return { _ in
                let next = number.wrappingAdd(1, ordering: .relaxed).newValue
                let answer = try line.send(
                    server.administration(
                        "PATCH", "/clients/\(clients[caller])",
                        #"{"client_name": "Named \#(next)"}"#))
                guard answer.status == 200 else { throw answer.failure }
            }
        }
    }

    /// The newest events once to as many readers as there are sessions. Nothing is appended meanwhile.
    private static func frames(_ server: DevelopmentServer) async throws -> Ready {
        let bed = try FeedBed(server, keys: 2)
        let keeper = try bed.readers(1, from: "now")
        try await keeper.wait(for: 200)
        let burst = 1_000
        let head = try await bed.append(burst + 200)
        let start = head - Int64(burst)
        return { _ in
            {
                let readers = try bed.readers(
                    sessions, from: "1:\(start)", skipping: 8, looksForPositions: true)
                defer { readers.close() }
                while (readers.arrival(of: head)?.count ?? 0) < sessions {
                    try await Task.sleep(for: .milliseconds(5))
                }
                withExtendedLifetime(keeper) {}
                return sessions * burst
            }
        }
    }
}
