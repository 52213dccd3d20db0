internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A whole realm as of a moment: built from the log up to a position, kept for an hour, and asked in lists or in SQL.
enum AsOfBuildRoutes {
    static let table: [Route<AdminContext>] =
        [create, list, get, cancel] + AsOfList.allCases.map(items)

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/as-of/{moment}", id: "createAsOfBuild", tag: "As of",
        summary: "Ask for a whole realm as of a moment.",
        detail: """
            It is built after the answer; `GET …/as-of-builds/{build_id}` says how far it is. Then its lists can be \
            asked for an hour, and analysts of the realm find the views of the schema `analyst` in a schema of its \
            own. A realm has two at once. No personal data is in it.
            """, right: .realm, permission: .historyRead,
        parameters: [
            .realm, AsOfMoment.parameter("moment", "Moment of the build."), .idempotencyKey,
        ],
        answer: .accepted(
            "The build, which is not made yet.", AsOfBuildSchema.shape,
            location: "URL of the build."),
        refusals: [.noSuchRealm, .positionLost, .logDamaged, .tooManyBuilds]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let (id, builds) = (write.newID("as-of build"), call.context.asOfBuilds)
        let written = try call.required("moment")
        let known = try await reading { () throws(LogFailure) in
            try await builds.build(id, in: write.realm)
        }
        if let known {
            guard known.moment == written else {
                throw Problem(.idempotencyKeyReused, field: "Idempotency-Key")
            }
            return known.response(.accepted)
        }
        let moment = try await call.asOf("moment")
        let build = AsOfBuild(
            realm: write.realm, id: id, asker: call.caller.actor, moment: written,
            epoch: moment.epoch, position: moment.position, at: moment.at,
            askedAt: write.origin.at)
        let isTaken = try await reading { () throws(LogFailure) in
            try await builds.create(build)
        }
        guard isTaken else {
            throw Problem(
                .tooManyBuilds,
                "A realm has \(AsOfBuildStore.mostAtOnce) at once: delete one, or wait until its hour is over."
            )
        }
        return build.response(.accepted)
    }

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/as-of-builds", id: "listAsOfBuilds", tag: "As of",
        summary: "List the moments for which the whole realm is being built, or kept.",
        permission: .historyRead, of: AsOfBuildSchema.shape, 0...AsOfBuildStore.mostAtOnce,
        "Builds, the newest first."
    ) { call throws(Problem) in
        let realm = try call.realm
        let builds = try await reading { () throws(LogFailure) in
            try await call.context.asOfBuilds.builds(in: realm)
        }
        if builds.isEmpty { try await call.knownLog() }
        return builds
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/as-of-builds/{build_id}", id: "getAsOfBuild",
        tag: "As of", summary: "Show how far a build of a whole realm is.", right: .realm,
        permission: .historyRead, parameters: [.realm, AsOfBuildSchema.id],
        answer: .ok("The build.", AsOfBuildSchema.shape),
        refusals: [.noSuchRealm, .noSuchBuild]
    ) { call throws(Problem) in try await call.knownBuild().response(.ok) }

    private static let cancel = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/as-of-builds/{build_id}", id: "cancelAsOfBuild",
        tag: "As of", summary: "Drop a build of a whole realm before its hour is over.",
        detail: """
            It is not visible any more. For the administrator who asked for it, and for keys that are not limited \
            to permissions.
            """,
        right: .realm, permission: .historyRead,
        parameters: [.realm, AsOfBuildSchema.id, .idempotencyKey],
        answer: .done("The build is deleted."),
        refusals: [.noSuchRealm, .noSuchBuild]
    ) { call throws(Problem) in
        let build = try await call.knownBuild()
        try call.requireMayCancel(askedBy: build.asker, "build")
        _ = try await reading { () throws(LogFailure) in
            try await call.context.asOfBuilds.cancel(build.id, in: build.realm)
        }
        return Response(status: .noContent)
    }

    private static func items(_ list: AsOfList) -> Route<AdminContext> {
        Route<AdminContext>(
            .get,
            PathTemplate(
                stringLiteral:
                    "/api/admin/realms/{realm}/as-of-builds/{build_id}/\(list.rawValue)"),
            id: list.operation, tag: "As of",
            summary: "List the \(list.rawValue) of a realm as of a moment.", right: .realm,
            permission: .historyRead,
            parameters: [.realm, AsOfBuildSchema.id, Lists.limit, Lists.after(Cursor.name)]
                + ([.sessions, .passkeys, .credentials].contains(list)
                    ? [AsOfBuildSchema.accountID] : []),
            answer: Lists.answer(
                list.schemaName + "List", of: .named(list.schemaName, .object(list.members)),
                next: Cursor.name, example: list.example),
            refusals: [.noSuchRealm, .noSuchBuild, .buildNotReady, .buildGone]
        ) { call throws(Problem) in
            let build = try await call.knownBuild()
            try build.requireReady()
            let after = try call.text("after").map { text throws(Problem) in
                guard let place = Cursor.name(text).flatMap(AsOfPlace.init) else {
                    throw Problem(.invalidParameter, field: "after")
                }
                return place
            }
            let items = try await reading { () throws(LogFailure) in
                try await call.context.asOfBuilds.items(
                    list, of: build, account: call.text("account").flatMap { UUID($0) },
                    after: after, limit: call.limit + 1)
            }
            guard let items else { throw Problem(.buildGone) }
            let head = try await call.standing().head
            return Lists.page(
                call.limit, of: items,
                at: ListStanding(position: build.position, head: max(head, build.position)),
                item: { .object($0.members) },
                next: { Cursor.encode(name: $0.place.text) })
        }
    }
}

extension AsOfBuild {
    fileprivate func response(_ status: Status) -> Response {
        let answer = Response.json(status, AsOfBuildSchema.shape.json(self))
        return status == .accepted
            ? answer.located("/api/admin/realms/\(realm)/as-of-builds/\(id)") : answer
    }

    fileprivate func requireReady() throws(Problem) {
        switch state {
        case .waiting, .running: throw Problem(.buildNotReady, "It is being made.")
        case .failed:
            let place = hole.map { ": position \($0) is missing" } ?? ""
            throw Problem(
                .buildNotReady,
                "It cannot be made: \(fault?.rawValue ?? "unknown")\(place).")
        case .cancelled: throw Problem(.buildGone, "It was deleted.")
        case .expired: throw Problem(.buildGone, "It was kept for an hour.")
        case .ready: break
        }
    }
}

extension Call<AdminContext> {
    fileprivate func knownBuild() async throws(Problem) -> AsOfBuild {
        let id = try requiredID("build_id")
        return try await found(or: .noSuchBuild, isOfSystem: true) { realm throws(LogFailure) in
            try await context.asOfBuilds.build(id, in: realm)
        }
    }
}
