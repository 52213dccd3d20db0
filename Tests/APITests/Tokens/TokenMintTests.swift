import Cryptography
import Identity
import Testing
import Values

@testable import API

@Suite struct `The tokens of a realm` {
    private let mint = makeMint(1)

    private static func makeMint(_ byte: UInt8) -> TokenMint {
        let key = HMACKey([UInt8](repeating: byte, count: 32))
        return TokenMint { _, purpose, bytes in
            key.authenticate([Array(purpose.utf8), [0], bytes])
        }
    }

    private func granted(generation: Int = 3, scope: [String] = ["openid", "b"]) -> GrantedTokens {
        let terms = SessionTerms(
            account: nil, stamp: 0, client: UUID(high: 1, low: 1), clientID: "web", app: nil,
            scope: ["openid", "a", "b"], resources: ["https://x", "https://y"], factors: [],
            openedAt: Timestamp(seconds: 0), expiresAt: Timestamp(seconds: 9), isOffline: true)
        return GrantedTokens(
            session: UUID(high: 5, low: 7), generation: generation, terms: terms, scope: scope,
            resources: ["https://y"], lifetime: 900)
    }

    @Test func `a realm's tokens are read back as they were made`() throws {
        let refresh = mint.refreshToken(granted())
        #expect(refresh.hasPrefix("urd_rt_"))
        #expect(
            mint.readRefreshToken(refresh)
                == TokenMint.RefreshToken(session: UUID(high: 5, low: 7), generation: 3))
        let expiry = Timestamp(seconds: 1_800_000_900)
        let start = Timestamp(seconds: 1_800_000_000)
        let access = mint.accessToken(granted(), issuedAt: start, expiresAt: expiry)
        let read = try #require(mint.readAccessToken(access))
        #expect(read.session == UUID(high: 5, low: 7))
        #expect(read.issuedAt == start && read.expiresAt == expiry)
        #expect(TokenMint.chosen(["openid", "a", "b"], by: read.scopes) == ["openid", "b"])
        #expect(
            TokenMint.chosen(["https://x", "https://y"], by: UInt64(read.resources))
                == ["https://y"])
        #expect(mint.refreshToken(granted()) == refresh, "The same again, without being kept.")
    }

    @Test func `a realm's mailed tokens are for one account and one purpose`() throws {
        let (link, account) = (UUID(high: 1, low: 2), UUID(high: 3, low: 4))
        let reset = mint.resetToken(link, of: account)
        let keep = mint.keepToken(link, of: account)
        let (found, holder) = try #require(mint.readResetToken(reset))
        #expect(found == link && holder == account)
        let (kept, keeper) = try #require(mint.readKeepToken(keep))
        #expect(kept == link && keeper == account)
        #expect(mint.readKeepToken(reset) == nil && mint.readResetToken(keep) == nil)
        #expect(Self.makeMint(2).readResetToken(reset) == nil)
        #expect(mint.readResetToken(reset.uppercased()) == nil)
        for text in ["", String(reset.dropLast()), reset + "0", String(keep.reversed())] {
            #expect(mint.readResetToken(text) == nil && mint.readKeepToken(text) == nil)
        }
        let other = mint.resetToken(link, of: UUID(high: 3, low: 5))
        #expect(mint.readResetToken(String(other.prefix(64) + reset.suffix(32))) == nil)
    }

    @Test func `a realm's tokens are refused of another realm, kind or spelling`() {
        let refresh = mint.refreshToken(granted())
        let access = mint.accessToken(
            granted(), issuedAt: Timestamp(seconds: 0), expiresAt: Timestamp(seconds: 1))
        #expect(Self.makeMint(2).readRefreshToken(refresh) == nil)
        #expect(mint.readAccessToken(refresh) == nil)
        #expect(mint.readRefreshToken(access) == nil)
        #expect(mint.readRefreshToken("urd_rt_" + access.dropFirst(7)) == nil)
        for text in ["", "urd_rt_", "urd_rt_AAAA", refresh + "A", refresh + "=", " " + refresh] {
            #expect(mint.readRefreshToken(text) == nil, "\(text)")
        }
        var bytes = Array(refresh.utf8)
        for index in bytes.indices {
            bytes[index] ^= 1
            #expect(mint.readRefreshToken(String(decoding: bytes, as: UTF8.self)) == nil)
            bytes[index] ^= 1
        }
    }

    @Test func `a realm's mailed codes have six digits, evenly distributed`() {
        var first: [Character: Int] = [:]
        for number in 0..<2_000 {
            let code = mint.code(UUID(high: 0, low: UInt64(number)))
            #expect(code.utf8.count == 6 && code.utf8.allSatisfy { (48...57).contains($0) })
            first[code.first ?? "x", default: 0] += 1
        }
        #expect(first.count == 10 && first.values.allSatisfy { (130...280).contains($0) })
        let id = UUID(high: 1, low: 2)
        #expect(mint.code(id) == mint.code(id))
    }

    @Test func `a realm's mailed codes are digested with their mailbox`() {
        let (mine, yours) = (mint.mailbox("ann@example.org"), mint.mailbox("bob@example.org"))
        #expect(mine != yours && mine == mint.mailbox("ann@example.org"))
        #expect(
            mint.digest(ofCode: "123456", for: mine) != mint.digest(ofCode: "123456", for: yours))
        #expect(Self.makeMint(2).mailbox("ann@example.org") != mine)
    }
}
