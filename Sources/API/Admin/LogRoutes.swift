internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What proves that the log is what it was: the checkpoint, proofs against it, and the tiles.
enum LogRoutes {
    static let table: [Route<AdminContext>] = [checkpoint, proof, tile]

    private static let checkpoint = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/log/checkpoint", id: "getCheckpoint", tag: "Log",
        summary: "Show the newest signed checkpoint of the realm's log.",
        detail: "A signed note in the form of C2SP tlog-checkpoint.", right: .realm,
        permission: .eventsRead,
        parameters: [.realm],
        answer: Answer(
            status: .ok, description: "The signed note.",
            content: .text("text/plain; charset=utf-8")),
        refusals: [.noSuchRealm, .noSuchCheckpoint]
    ) { call throws(Problem) in
        let note = try await call.found(or: .noSuchCheckpoint, isOfSystem: true) {
            realm throws(LogFailure) in try await call.context.proofs.checkpoint(of: realm)
        }
        var response = Response.bytes(.ok, note)
        response.headers["Content-Type"] = "text/plain; charset=utf-8"
        return response
    }

    private static let proof = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/log/proofs/{position}", id: "getInclusionProof",
        tag: "Log", summary: "Prove that an event is in the log that the checkpoint signs.",
        detail: """
            An RFC 6962 inclusion proof; hashes are in base64. `Tests/Interop/verify_log.py proof` \
            checks it without Urd.
            """, right: .realm, permission: .eventsRead,
        parameters: [.realm, .position],
        answer: .ok("The proof.", proofShape),
        refusals: [.noSuchRealm, .noSuchCheckpoint]
    ) { call throws(Problem) in
        let position = try call.requiredInteger("position")
        let proof = try await call.found(or: .noSuchCheckpoint, isOfSystem: true) {
            realm throws(LogFailure) in
            try await call.context.proofs.inclusionProof(of: position, in: realm)
        }
        return .json(.ok, proofShape.json(proof))
    }

    private static let hash = Schema.text(
        44...44,
        .sequence([
            .some(Characters("a-zA-Z0-9+/"), 42...42), .one(Characters("AEIMQUYcgkosw048")),
            .text("="),
        ]))

    private static let proofShape = Shape<InclusionView>(
        "InclusionProof",
        .required(
            "format", .oneOf(["urd-inclusion/1"]), "Format of the inclusion proof.",
            { _ in "urd-inclusion/1" }, example: "urd-inclusion/1"),
        .required("position", Fields.position, "Position of the event.", \.position, example: 1),
        .required(
            "record", .text(1...2_000_000),
            "Canonical record of the event, whose hash is the leaf.",
            { String(decoding: $0.record, as: UTF8.self) }, example: "{\"at\":1795224205123456}"),
        .required(
            "path", .list(of: hash, 0...64),
            "Audit path: sibling hashes from the leaf to the root (RFC 6962).",
            { $0.path.map { Base64.encode($0) } }, example: []),
        .required(
            "checkpoint", .text(1...10_000), "Signed checkpoint of the tree.",
            { String(decoding: $0.checkpoint, as: UTF8.self) },
            example:
                "urd.example/demo\n1\nn4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n\n— urd.example/demo …\n"
        ))

    private static let tile = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/log/tiles/{level}/{index}", id: "getTile", tag: "Log",
        summary: "Show hashes of the realm's tree.",
        detail: "A tile of C2SP tlog-tiles; `width` asks for a partial one.", right: .realm,
        permission: .eventsRead,
        parameters: [
            .realm,
            Parameter("level", in: .path, .integer(0...63), "Level of the tile.", example: 0),
            Parameter(
                "index", in: .path, .integer(0...281_474_976_710_655), "Index of the tile.",
                example: 0),
            Parameter(
                "width", in: .query, .integer(1...256),
                "Number of hashes in the tile; 256 by default.",
                example: 256),
        ],
        answer: Answer(
            status: .ok, description: "Hashes of 32 bytes, one after the other.", content: .bytes()),
        refusals: [.noSuchRealm, .noSuchCheckpoint]
    ) { call throws(Problem) in
        let level = Int(try call.requiredInteger("level"))
        let index = try call.requiredInteger("index")
        let width = call.integer("width").map { Int($0) } ?? 256
        let hashes = try await call.found(or: .noSuchCheckpoint, isOfSystem: true) {
            realm throws(LogFailure) in
            try await call.context.proofs.tile(
                level: level, index: index, width: width, of: realm)
        }
        return .bytes(.ok, hashes)
    }
}
