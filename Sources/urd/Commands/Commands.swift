/// Every command of `urd`, in the order in which help lists them.
enum Commands {
    static let all: [any AnySubcommand] =
        [
            Dev { DevelopmentRun(console: .standard, settings: $0) }, Serve(), Migrate(),
            Doctor(tools: .ofThisBinary), ConfigPrint(), Completion(),
        ] + RouteCommands.all + [
            EventsTail(), EventsShow(), Verify(), Proof(), LogCheckpoint(), LogConsistency(),
            LogKey(), LogExport(), LogAccept(), KeysRotateMaster(), KeysRotateRealm(),
            KeysRotateDerive(), KeysRetireDerive(), ProjectionsStatus(), ProjectionsRebuild(),
            ProjectionsVerify(), ProjectionsRollback(),
        ]
}

enum Version {
    static let text = "0.1.0"
}
