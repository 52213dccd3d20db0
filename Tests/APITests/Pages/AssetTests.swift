import Foundation
import HTTP
import JSON
import Testing

@testable import API

@Suite struct `Assets of pages` {
    private func get(
        _ path: String, _ world: SignInWorld, host: String = "id.acme.example",
        _ more: Headers = [:], method: HTTP.Method = .get
    ) async -> Response {
        var headers = more
        headers["Host"] = host
        return await world.router.respond(
            to: Request(
                method: method, path: path, query: nil, headers: headers, body: [], source: "::1",
                id: "r"))
    }

    @Test func `assets are served at a host without a realm, whose page says so`() async throws {
        let world = try await SignInWorld()
        let reader: Headers = ["Accept": "text/html"]
        for (path, method) in [
            ("/", HTTP.Method.get), ("/login", .get), ("/nothing", .get), ("/login", .delete),
        ] {
            let answer = await get(path, world, host: "typo.example", reader, method: method)
            let page = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == .notFound)
            #expect(page.contains("No site is set up for typo.example"), "\(path)")
            #expect(!page.contains("Page not found"), "\(path)")
            for asset in [AssetRoutes.sheetPath, AssetRoutes.themePath(.usual)] {
                #expect(page.contains(asset))
                let found = await get(asset, world, host: "typo.example")
                #expect(found.status == .ok)
                #expect(found.headers["Content-Type"] == "text/css; charset=utf-8")
            }
        }
        let program = await get("/", world, host: "typo.example")
        #expect(program.headers["Content-Type"] == "application/problem+json")
    }

    @Test func `assets are cached by browsers, because their names contain their digest`()
        async throws
    {
        let world = try await SignInWorld()
        let theme = AssetRoutes.themePath(.usual)
        for path in [AssetRoutes.sheetPath, AssetRoutes.scriptPath, theme] {
            let answer = await get(path, world)
            #expect(answer.status == .ok, "\(path)")
            #expect(
                answer.headers["Cache-Control"] == "public, max-age=31536000, immutable")
            let other = path.replacing("/assets/", with: "/assets/x")
            #expect(await get(other, world).status == .notFound)
        }
        for wrong in ["12345", "1234567", "GGGGGG", "ABCDEF", "+12345", "..", "12345%22"] {
            let path = theme.dropLast(6) + wrong
            #expect(await get(String(path), world).status == .notFound, "\(wrong)")
        }
    }

    @Test func `an icon in the realm's colour answers the browser's own request for it`()
        async throws
    {
        let world = try await SignInWorld(["accent_colour": "#0a7d5a"])
        let answer = await get("/favicon.ico", world)
        #expect(answer.status == .ok && answer.headers["Content-Type"] == "image/svg+xml")
        #expect(answer.headers["Cache-Control"] == "public, max-age=86400")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("#0a7d5a"))
    }

    @Test func `text stays readable in every colour that a realm can choose`() throws {
        let grounds = [
            (RGBColor(red: 0xF3, green: 0xF4, blue: 0xF6), false), (RGBColor.white, false),
            (RGBColor.night, true), (RGBColor(red: 0x0F, green: 0x11, blue: 0x15), true),
        ]
        for digits in [
            "000000", "ffffff", "ffff00", "ff0000", "00ff00", "0000ff", "808080", "1f3a5f",
            "f3f4f6", "191c22", "7fa6d6", "ff69b4",
        ] {
            let accent = try #require(Accent("#\(digits)"))
            let parts = accent.sheet.components(separatedBy: "@media")
            #expect(parts.count == 2)
            for (ground, isDark) in grounds {
                let sheet = parts[isDark ? 1 : 0]
                let button = try tint("--accent", sheet)
                #expect(try tint("--on-accent", sheet).contrast(button) >= 4.5, "\(digits)")
                #expect(try tint("--link", sheet).contrast(ground) >= 4.5, "\(digits)")
                #expect(try tint("--rim", sheet).contrast(ground) >= 3, "\(digits)")
                // The button has the colour that was chosen; the usual one alone has another at night.
                #expect(button.digits == digits || isDark && accent == .usual)
            }
        }
    }

    @Test func `all built-in colours have enough contrast`() throws {
        let parts = StyleSheet.text.components(separatedBy: "@media (prefers-color-scheme:dark)")
        #expect(parts.count == 2)
        for sheet in parts {
            for ground in ["--bg", "--card", "--field"] {
                for text in ["--ink", "--soft", "--bad"] {
                    let contrast = try tint(text, sheet).contrast(try tint(ground, sheet))
                    #expect(contrast >= 4.5, "\(text) on \(ground): \(contrast)")
                }
                // WCAG 1.4.11: where a field ends.
                #expect(try tint("--edge", sheet).contrast(try tint(ground, sheet)) >= 3)
            }
            for mood in ["--bad", "--good"] {
                #expect(try tint(mood, sheet).contrast(try tint("\(mood)-bg", sheet)) >= 4.5)
            }
            #expect(try tint("--ink", sheet).contrast(try tint("--hover", sheet)) >= 4.5)
        }
    }

    @Test func `contrast is measured as in WCAG`() {
        #expect(abs(RGBColor.black.contrast(.white) - 21) < 0.001)
        let grey = RGBColor(red: 0x77, green: 0x77, blue: 0x77)
        #expect(abs(grey.contrast(.white) - 4.478) < 0.001)
    }

    private func tint(_ name: String, _ sheet: String) throws -> RGBColor {
        let rest = try #require(sheet.components(separatedBy: "\(name):#").dropFirst().first)
        var digits = String(rest.prefix { $0.isHexDigit })
        if digits.count == 3 { digits = digits.map { "\($0)\($0)" }.joined() }
        let number = try #require(UInt32(digits, radix: 16))
        return RGBColor(
            red: Double(number >> 16), green: Double(number >> 8 & 255), blue: Double(number & 255))
    }
}
