import EventSourcing
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `The credentials of accounts` {
    private let world: World
    private let account = UUID(high: 1, low: 1)
    private let start: Int64 = 1_800_000_000

    init() throws {
        world = try World()
    }

    private var owned: String { #""account":"\#(account)""# }

    private func at(_ minutes: Int64) -> Timestamp { Timestamp(seconds: start + minutes * 60) }

    /// Each row as `kind created used removed`, in minutes, however long the pages are.
    private func rows(_ events: [Happening]) throws -> [String] {
        try world.append(events, in: "one")
        var results: [[String]] = []
        for page in [1, 3, 100] as [Int64] {
            let build = try Builds.create(
                try #require(Projection.all.first { $0.name == "credentials" }), sharded: false,
                world.owner)
            var step = try Step.project("one", "credentials", build, page: page, world.owner)
            while let now = step, now.position < now.head, now.halted == nil {
                step = try Step.project("one", "credentials", build, page: page, world.owner)
            }
            #expect(step?.halted == nil)
            let rows = try world.owner.executeOnce(
                """
                select concat_ws(' ', kind, \(Self.minutes("created_at")), \(Self.minutes("used_at")),
                    \(Self.minutes("removed_at")))
                from urd.credentials_\(build) where account = '\(account)' order by 1
                """, Parameters())
            results.append((0..<rows.count).map { rows.text($0, 0) })
        }
        #expect(Set(results).count == 1, "\(results)")
        return results[0]
    }

    private static func minutes(_ column: String) -> String {
        "coalesce((extract(epoch from \(column) - to_timestamp(1800000000)) / 60)::int::text, '-')"
    }

    private func signIn(_ number: UInt64, _ factor: String, _ minutes: Int64, _ more: String = "")
        -> Happening
    {
        Happening(
            "browser.opened", UUID(high: 20, low: number), version: 1,
            #"{\#(owned),\#(more)"amr":["\#(factor)"]}"#, at: at(minutes))
    }

    @Test func `a passphrase was last used by the sign-in that it was shown for`() throws {
        let stream = UUID(high: 2, low: 1)
        let found = try rows([
            Happening("passphrase.set", stream, version: 1, "{\(owned)}", at: at(1)),
            signIn(1, "pwd", 2), signIn(2, "hwk", 3),
            // What came of a browser's session is no use of it.
            signIn(3, "pwd", 4, #""browser":"\#(account)","#),
            // Nothing else is used by it, nor is the passphrase by another's sign-in.
            Happening(
                "passkey.enrolled", UUID(high: 6, low: 1), version: 1, "{\(owned)}", at: at(0)),
            Happening(
                "totp.confirmed", UUID(high: 3, low: 1), version: 1, "{\(owned)}", at: at(0)),
            signIn(4, "pwd", 5),
            Happening(
                "browser.opened", UUID(high: 20, low: 5), version: 1,
                #"{"account":"\#(UUID(high: 1, low: 2))","amr":["pwd"]}"#, at: at(6)),
        ])
        #expect(
            found == [
                "authenticator_app 0 - -", "passkey 0 - -", "passphrase 1 5 -",
                "recovery_codes 0 - -",
            ])
    }

    @Test func `a passphrase that is set anew has not been used yet`() throws {
        let stream = UUID(high: 2, low: 1)
        let found = try rows([
            Happening("passphrase.set", stream, version: 1, "{\(owned)}", at: at(1)),
            signIn(1, "pwd", 2),
            Happening("passphrase.set", stream, version: 2, "{\(owned)}", at: at(3)),
        ])
        #expect(found == ["passphrase 3 - -"])
    }

    @Test func `what was removed stays as removed, and what is set up again is there again`() throws
    {
        let stream = UUID(high: 2, low: 1)
        let found = try rows([
            Happening("totp.confirmed", stream, version: 1, "{\(owned)}", at: at(1)),
            Happening("totp.used", stream, version: 2, at: at(2)),
            Happening("recovery_code.used", stream, version: 3, at: at(3)),
            Happening("totp.removed", stream, version: 4, "{\(owned)}", at: at(4)),
            Happening("totp.confirmed", stream, version: 5, "{\(owned)}", at: at(5)),
            Happening("recovery_codes.renewed", stream, version: 6, at: at(6)),
            Happening("totp.removed", stream, version: 7, "{\(owned)}", at: at(7)),
        ])
        #expect(found == ["authenticator_app 5 - 7", "recovery_codes 6 - 7"])
    }

    @Test func `keys and PINs of a tenant's app, passkeys and providers are there`() throws {
        let (owner, key, other) = (
            UUID(high: 3, low: 1), UUID(high: 4, low: 1), UUID(high: 4, low: 2)
        )
        func event(_ type: String, _ key: UUID, _ version: Int, _ minutes: Int64) -> Happening {
            Happening(
                type, owner, version: version, #"{\#(owned),"client":"\#(owner)","key":"\#(key)"}"#,
                at: at(minutes))
        }
        let found = try rows([
            event("app_method.key_enrolled", key, 1, 1),
            event("app_method.key_enrolled", other, 2, 2),
            Happening("app_method.pin_set", owner, version: 3, "{\(owned)}", at: at(3)),
            Happening(
                "approval.answered", UUID(high: 5, low: 1), version: 1,
                #"{"approved":true,"key":"\#(key)"}"#, at: at(4)),
            Happening(
                "approval.answered", UUID(high: 5, low: 2), version: 1,
                #"{"approved":false,"key":"\#(key)"}"#, at: at(5)),
            event("app_method.key_removed", other, 4, 6),
            Happening("app_method.pin_used", owner, version: 5, at: at(7)),
            Happening(
                "passkey.enrolled", UUID(high: 6, low: 1), version: 1, "{\(owned)}", at: at(8)),
            Happening("passkey.used", UUID(high: 6, low: 1), version: 2, at: at(9)),
            Happening(
                "identity.linked", UUID(high: 7, low: 1), version: 1,
                #"{\#(owned),"provider":"corporate"}"#, at: at(10)),
        ])
        #expect(
            found == [
                "app_key 1 4 -", "app_key 2 - 6", "app_pin 3 7 -", "passkey 8 9 -",
                "provider 10 - -",
            ])
    }

    @Test func `all that an account has is removed with it`() throws {
        let found = try rows([
            Happening(
                "passkey.enrolled", UUID(high: 6, low: 1), version: 1, "{\(owned)}", at: at(1)),
            Happening(
                "passkey.enrolled", UUID(high: 6, low: 2), version: 1, "{\(owned)}", at: at(1)),
            Happening(
                "passkey.removed", UUID(high: 6, low: 2), version: 2, "{\(owned)}", at: at(2)),
            Happening("account.deleted", account, version: 1, at: at(3)),
        ])
        #expect(found == ["passkey 1 - 2", "passkey 1 - 3"])
    }
}
