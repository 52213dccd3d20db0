import CBuild

/// Every command of `urd`, in the order in which help lists them.
enum Commands {
    static let all: [any AnySubcommand] =
        [
            Dev { DevelopmentRun(console: .standard, settings: $0) }, Serve(), SetupCommand(),
            Migrate(),
            Doctor(tools: .ofThisBinary), HealthCheck(), ConfigPrint(),
            ConfigTemplate(), Completion(), Manual(),
        ] + RouteCommands.all + [
            EventsTail(), EventsShow(), EventsTypes(), EventsDescribe(), FeedCommand(),
            ReplayCommand(),
            Verify(),
            Proof(),
            LogCheckpoint(), LogConsistency(),
            LogKey(), LogExport(), LogAccept(), KeysRotateMaster(), KeysRotateRealm(),
            KeysRotateDerive(), KeysRetireDerive(), ProjectionsStatus(), ProjectionsRebuild(),
            ProjectionsVerify(), ProjectionsRollback(), AnalystAdd(), AnalystList(),
            AnalystRemove(), AnalystFenceStatement(), CaseCommand(), AsOfRealmCommand(),
            ExportCommand(), WhatIfCommand(),
        ]
}

enum Version {
    static let number = "0.1.0"

    /// `0.1.0 (346a8ffd1c2b, 2026-11-25)`; the number alone where the build was not told of a commit.
    static let text = label(commit: String(cString: build_commit()))

    static func label(commit: String) -> String {
        commit.isEmpty ? number : "\(number) (\(commit))"
    }
}
