import JSON
import Testing
import Values

@testable import Identity

private let sizes = [
    "203.0.113.7": 1, "2001:db8::1": 1, "10.0.0.0/8": 1 << 24, "10.0.0.0/16": 65_536,
    "::/0": .max,
]

/// Reads a policy as the admin API does, with a few addresses that are addresses.
func policy(_ json: JSON) throws(PolicyFault) -> SignInPolicy {
    try PolicyReader.policy(json) { sizes[$0] }
}

@Suite struct `Reading policies` {
    private static let faults: [(JSON, String, String)] = [
        ([:], "", "must have one of"), (["a"], "", "must be an object"),
        (["countris": ["allow": ["CH"]]], "/countris", "did you mean countries?"),
        (["a/b~c": 1], "/a~1b~0c", "is not known here"),
        (["countries": ["allow": ["CH", "ch"]]], "/countries/allow/1", "such as CH"),
        (["countries": ["alow": ["CH"]]], "/countries/alow", "did you mean allow?"),
        (["countries": ["allow": ["CH"], "deny": ["DE"]]], "/countries", "either allow or deny"),
        (["countries": [:]], "/countries", "must have one of allow, deny"),
        (["countries": ["deny": []]], "/countries/deny", "must be a list of 1 to 200"),
        (["networks": ["deny": ["AS64500", "AS1x"]]], "/networks/deny/1", "such as AS64500"),
        (["networks": ["deny": ["AS4294967296"]]], "/networks/deny/0", "such as AS64500"),
        (["networks": ["deny": ["203.0.113.0/33"]]], "/networks/deny/0", "such as 203.0.113.0/24"),
        (["networks": ["deny": ["10.0.0.0/8"]]], "/networks/deny/0", "65536 networks in all"),
        (["networks": ["deny": ["::/0"]]], "/networks/deny/0", "65536 networks in all"),
        (
            ["networks": ["deny": ["10.0.0.0/16", "203.0.113.7"]]], "/networks/deny/1",
            "65536 networks in all"
        ),
        (["allow_methods": ["passkye"]], "/allow_methods/0", "did you mean passkey?"),
        (["allow_methods": ["refresh_token"]], "/allow_methods/0", "is not one of"),
        (["allow_methods": "passkey"], "/allow_methods", "must be a list"),
        (["require_second_factor": true], "/require_second_factor", "must be an object"),
        (["require_second_factor": ["all": false]], "/require_second_factor/all", "must be true"),
        (["require_second_factor": ["roles": [""]]], "/require_second_factor/roles/0", "a text"),
        (["require_second_factor": ["clients": [7]]], "/require_second_factor/clients/0", "text"),
        (["hours": ["from": "07:00"]], "/hours", "must have to"),
        (["hours": ["from": "7:00", "to": "19:00"]], "/hours/from", "such as 07:30"),
        (["hours": ["from": "07:00", "to": "24:00"]], "/hours/to", "such as 07:30"),
        (["hours": ["from": "07:00", "to": "07:00"]], "/hours/to", "another time than from"),
        (
            ["hours": ["from": "07:00", "to": "19:00", "days": ["munday"]]], "/hours/days/0",
            "did you mean monday?"
        ),
        (
            ["hours": ["from": "07:00", "to": "19:00", "offset": "+15:00"]], "/hours/offset",
            "at most 14 hours"
        ),
        (["devices": ["known_for": "7 days"]], "/devices/known_for", "such as 30m"),
        (["devices": ["known_for": "0d"]], "/devices/known_for", "such as 30m"),
        (["devices": ["for": "7d"]], "/devices/for", "is not known here"),
        (["session_lifetime": 3600], "/session_lifetime", "such as 30m"),
        (["session_lifetime": "99999999d"], "/session_lifetime", "at most 3650d"),
        (["idle_lifetime": "h"], "/idle_lifetime", "such as 30m"),
        (["max_sessions": 0], "/max_sessions", "from 1 to 1000"),
        (["max_sessions": "3"], "/max_sessions", "from 1 to 1000"),
        (["lock_after": ["n": 5]], "/lock_after", "must have minutes"),
        (["lock_after": ["n": 1001, "minutes": 5]], "/lock_after/n", "from 1 to 1000"),
        (["lock_after": ["n": 5, "minuts": 5]], "/lock_after/minuts", "did you mean minutes?"),
    ]

    @Test func `what is wrong with a policy is told with a pointer to it`() {
        for (json, pointer, says) in Self.faults {
            do {
                _ = try policy(json)
                Issue.record("\(json) was read.")
            } catch {
                #expect(error.at == pointer, "\(json)")
                #expect(error.says.contains(says), "\(error.says)")
            }
        }
    }

    @Test func `every rule is read`() throws {
        let read = try policy([
            "require_second_factor": ["all": true, "roles": ["admin"], "clients": ["shop"]],
            "allow_methods": ["passkey", "urn:cocoar:passkey"],
            "countries": ["deny": ["DE", "FR"]],
            "networks": ["allow": ["AS64500", "203.0.113.7"]],
            "hours": ["days": ["monday"], "from": "07:30", "to": "19:00", "offset": "-03:30"],
            "devices": ["known_for": "7d"], "session_lifetime": "12h", "idle_lifetime": "30m",
            "max_sessions": 3, "lock_after": ["n": 5, "minutes": 10],
        ])
        #expect(read.rules == PolicyRule.allCases)
        #expect(read.secondFactor?.isForAll == true && read.secondFactor?.roles == ["admin"])
        #expect(read.methods == ["passkey", "urn:cocoar:passkey"])
        #expect(read.countries == SignInPolicy.Choice(allows: false, values: ["DE", "FR"]))
        #expect(read.networks?.systems == [64500] && read.networks?.addresses == ["203.0.113.7"])
        #expect(
            read.hours == SignInPolicy.Hours(days: [0], start: 27_000, end: 68_400, offset: -12_600)
        )
        #expect(read.deviceAge == 604_800 && read.sessionLifetime == 43_200)
        #expect(read.idleLifetime == 1_800 && read.maxSessions == 3)
        #expect(read.lock == SignInPolicy.Lock(tries: 5, seconds: 600))
    }

    @Test func `every way to sign in may be allowed, and no other`() {
        #expect(PolicyReader.methods.contains("email_code"))
        for other in ["refresh_token", "client_credentials", "authorization_code"] {
            #expect(!PolicyReader.methods.contains(other))
        }
    }
}
