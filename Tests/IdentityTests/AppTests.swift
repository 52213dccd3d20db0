import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let created = AppEvent.created(slug: "shop", name: "Shop")
private let claim = Claim("app", "shop")

private func givenApp() -> Scenario { givenRealm().given(created, in: app) }

@Suite struct `Creating an app` {
    let create = AppChange.create(app, slug: "shop", name: "Shop")

    @Test func `creating an app takes its sub-domain`() async throws {
        try await givenRealm().when(create).then(created, in: app, taking: [claim])
    }

    @Test func `creating an app needs an enabled realm`() async throws {
        try await given().when(create).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(create).thenRejected(.realmDisabled)
    }

    @Test func `creating an app is refused under a taken id or sub-domain`() async throws {
        try await givenApp().when(create).thenRejected(.idTaken)
        try await givenApp().given(AppEvent.deleted, in: app).when(create).thenRejected(.idTaken)
        try await givenRealm().when(create).thenRejected(.slugTaken, whenTaken: claim)
    }

    @Test(arguments: ["", "Shop", "a.b", "-a", "a_b", "a b", String(repeating: "a", count: 64)])
    func `creating an app is refused with an invalid sub-domain`(slug: String) async throws {
        try await givenRealm().when(AppChange.create(app, slug: slug, name: "Shop"))
            .thenRejected(.invalid(FieldFault("slug", .malformed)))
    }

    @Test func `creating an app is refused with an invalid name`() async throws {
        try await givenRealm().when(AppChange.create(app, slug: "shop", name: "\t"))
            .thenRejected(.invalid(FieldFault("name", .malformed)))
    }
}

@Suite struct `Updating an app` {
    @Test func `updating an app changes only what differs`() async throws {
        try await givenApp().when(
            AppChange.update(
                app, slug: "store", name: "Shop",
                settings: ["native_grants": true, "mail_from": .null])
        ).then(
            AppEvent.updated(.init(slug: "store", settings: ["native_grants": true])), in: app,
            taking: [Claim("app", "store")], releasing: [claim])
        try await givenApp().when(AppChange.update(app, name: "Store"))
            .then(AppEvent.updated(.init(name: "Store")), in: app)
    }

    @Test func `updating an app can restore the realm's value`() async throws {
        try await givenApp()
            .given(AppEvent.updated(.init(settings: ["display_name": "Own"])), in: app)
            .when(AppChange.update(app, settings: ["display_name": .null]))
            .then(AppEvent.updated(.init(settings: ["display_name": .null])), in: app)
    }

    @Test func `updating an app without a difference appends nothing`() async throws {
        try await givenApp().when(AppChange.update(app)).thenNothing()
        try await givenApp().when(AppChange.update(app, slug: "shop", name: "Shop")).thenNothing()
    }

    @Test func `updating an app needs an app in an enabled realm`() async throws {
        let update = AppChange.update(app, name: "Store")
        try await given().when(update).thenRejected(.realmNotFound)
        try await givenDisabledRealm().given(created, in: app).when(update)
            .thenRejected(.realmDisabled)
        try await givenRealm().when(update).thenRejected(.notFound)
        try await givenApp().given(AppEvent.deleted, in: app).when(update).thenRejected(.notFound)
    }

    @Test func `updating an app is refused with a taken sub-domain`() async throws {
        try await givenApp().when(AppChange.update(app, slug: "store"))
            .thenRejected(.slugTaken, whenTaken: Claim("app", "store"))
    }

    @Test(
        arguments: [
            (AppChange.update(app, slug: "A"), FieldFault("slug", .malformed)),
            (AppChange.update(app, name: ""), FieldFault("name", .malformed)),
            (
                AppChange.update(app, settings: ["code_lifetime": 30]),
                FieldFault("code_lifetime", .notPerApp)
            ),
            (AppChange.update(app, settings: ["nothing": 1]), FieldFault("nothing", .unknown)),
            (
                AppChange.update(app, settings: ["native_grants": 1]),
                FieldFault("native_grants", .wrongType(expected: .flag))
            ),
        ])
    func `updating an app names the field at fault`(
        update: AppChange.Change<AppChange.UpdateRejection>, fault: FieldFault
    )
        async throws
    {
        try await givenApp().when(update).thenRejected(.invalid(fault))
    }
}

@Suite struct `Deleting an app` {
    @Test func `deleting an app releases its present sub-domain`() async throws {
        try await givenApp().given(AppEvent.updated(.init(slug: "store")), in: app)
            .when(AppChange.delete(app))
            .then(AppEvent.deleted, in: app, releasing: [Claim("app", "store")])
    }

    @Test func `deleting an app needs an app in an enabled realm`() async throws {
        let delete = AppChange.delete(app)
        try await given().when(delete).thenRejected(.realmNotFound)
        try await givenDisabledRealm().given(created, in: app).when(delete)
            .thenRejected(.realmDisabled)
        try await givenRealm().when(delete).thenRejected(.notFound)
        try await givenApp().given(AppEvent.deleted, in: app).when(delete).thenRejected(.notFound)
    }
}
