import HTTP
import Testing

@testable import API

/// Which routes have which trait. What a trait does is tested where it is used; here stands that no route
/// gets or loses one without notice.
@Suite struct `The traits of routes` {
    private static let realm = (API.realmTable + API.pageTable).map(\.outline)
    private static let flagship = (API.flagshipTable + API.flagshipPageTable).map(\.outline)
    private static let all =
        API.table.map(\.outline) + realm + flagship + API.webAppTable.map(\.outline)

    private func routes(_ trait: RouteTraits) -> Set<String> {
        Set(Self.all.filter { $0.traits.contains(trait) }.map(\.id))
    }

    @Test func `scripts of other origins may read the routes that clients call by themselves`() {
        #expect(
            routes(.forScripts) == [
                "getToken", "revokeToken", "getUserInfo", "getUserInfoByForm",
                "pushAuthorizationRequest", "registerOwnClient",
                "getOpenIDConfiguration", "getServerMetadata", "getKeySet",
                "getKeySetFile", "getWebhookKeys", "getIdentityTokenKeys", "getVerifyKeys",
                "verifyTenantToken", "screenTenantForm", "completeTenantForm",
            ])
    }

    @Test func `scripts of tenants read with cookies where a tenant's app calls and nowhere else`()
    {
        #expect(
            routes(.forTenantScripts) == [
                "getVerifiedIdentity", "refreshVerifyToken", "refreshVerifyTokenByHeader",
                "endVerifyToken", "createTenantUser", "getTenantUser", "getTenantUserByPath",
                "getTenantUserMethod",
                "getTenantInfo", "hasTenantPasskey", "beginTenantPasskeyEnrollment",
                "enrollTenantPasskey", "beginTenantPasskeySignIn", "signInByTenantPasskey",
                "changeTenantUserMethod", "changeTenantUserMethodByPath", "hasAnyTenantDevice",
                "hasTenantMethod", "hasTenantKey", "createTenantEvent", "requestTenantEvent",
                "getTenantEvent", "getWaitingTenantEventByPath", "getWaitingTenantEvent",
                "answerTenantEvent", "startPINReset", "verifyPINReset", "resetPIN",
                "getTenantNotifications",
            ])
    }

    @Test func `only metadata and key sets are the same for everyone`() {
        #expect(
            routes(.sameForEveryone) == [
                "getOpenIDConfiguration", "getServerMetadata", "getKeySet",
                "getKeySetFile", "getSignalConfiguration", "getWebhookKeys",
            ])
    }

    @Test func `a cached client is accepted at the token and introspection routes alone`() {
        #expect(routes(.acceptsCachedClient) == ["getToken", "introspectToken"])
    }

    @Test func `a client assertion is used up in the append of a grant or device request`() {
        #expect(
            routes(.consumesAssertion) == [
                "getToken", "requestDevice", "requestDeviceByLongName",
            ])
    }

    @Test func `user info is the only route that takes a token in a form`() {
        #expect(routes(.takesTokenInForm) == ["getUserInfo", "getUserInfoByForm"])
    }

    @Test func `a forwarding client must send an address where a sign-in begins`() {
        #expect(
            routes(.needsForwardedAddress) == [
                "requestOTP", "registerNatively", "requestMagicLink", "beginPasskeySignIn",
            ])
    }

    @Test func `one route for clients without a browser sets cookies`() {
        let setting = Self.all.filter { $0.traits.contains(.setsCookies) }
        #expect(setting.map(\.id) == ["loginByMagicLink"])
        #expect(setting.allSatisfy { $0.voice.caution.contains(.setsNoCookies) })
    }

    @Test func `web apps have assets, and the answer that tells an app to ask at the realm's host`()
    {
        let served = Self.all.filter { $0.traits.contains(.servedAtWebApps) }
        #expect(!served.isEmpty)
        for route in served where route.id != "preloginOwner" {
            #expect(route.path.description.hasPrefix("/assets/"), "\(route.id)")
        }
        for route in Self.all where route.path.description.hasPrefix("/assets/") {
            #expect(route.traits.contains(.servedAtWebApps), "\(route.id)")
        }
    }

    @Test
    func
        `a sign-in leads back to exactly the pages that are marked as return targets`()
    {
        for route in Self.all where route.method == .get {
            let path = route.path.description.replacing("{", with: "").replacing("}", with: "")
            guard route.traits.contains(.isReturnTarget) else { continue }
            #expect(ReturnTarget(path: path).path != nil, "\(route.id)")
        }
        for page in ReturnTarget.pages {
            #expect(
                Self.all.contains {
                    $0.traits.contains(.isReturnTarget) && $0.path.description.hasPrefix(page)
                }, "\(page)")
        }
    }
}
