import API
import EventStore
import ReadModels

/// Case files that were asked for; most of the time they wait for the log to be sealed.
enum CaseFileService {
    static func rounds(_ store: Store, _ queries: any QuestionPort) -> JobRounds<CaseFileKind> {
        JobRounds(store) { job, maker, told in
            let run = CaseRun(
                commands: store.dispatcher, queries: queries, cases: CaseFileAnswers(store),
                now: store.clock.now, maker: maker)
            try await run.make(job, told: told)
        }
    }
}
