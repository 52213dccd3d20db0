/// Every command of `urd`, in the order in which help lists them.
enum Commands {
    static let all: [any AnySubcommand] =
        [
            Dev { DevelopmentRun(console: .standard, settings: $0) }, Serve(), SetupCommand(),
            Migrate(),
            Doctor(tools: .ofThisBinary), DoctorEngine(), HealthCheck(), ConfigPrint(),
            ConfigTemplate(), Completion(), Manual(),
        ] + RouteCommands.all + [
            EventsTail(), EventsShow(), EventsTypes(), EventsDescribe(), FeedCommand(),
            ReplayCommand(),
            Verify(),
            Proof(),
            VerifyRelease(),
            LogCheckpoint(), LogConsistency(),
            LogKey(), LogExport(), LogAccept(), KeysRotateMaster(), KeysRotateRealm(),
            KeysRotateDerive(), KeysRetireDerive(), BackupCommand(), RestoreCommand(),
            ProjectionsStatus(), ProjectionsRebuild(),
            ProjectionsVerify(), ProjectionsRollback(), AnalystAdd(), AnalystList(),
            AnalystRemove(), AnalystFenceStatement(), CaseCommand(), AsOfRealmCommand(),
            ExportCommand(), ExportAccountsCommand(), ImportAccountsCommand(), WhatIfCommand(),
            PlanCommand(), ApplyCommand(), DriftCommand(), ExportConfigCommand(),
        ]
}
