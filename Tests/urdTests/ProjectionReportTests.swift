import ReadModels
import Testing

@testable import urd

@Suite("The report of a rebuild")
struct ProjectionReportTests {
    private let dump = LockHolder(process: 4711, user: "postgres", application: "pg_dump")

    @Test func `a projection's report names who is waited for, once, and how to end it`() {
        let notes = Notes()
        let report = ProjectionReport("sessions", notes.console())
        for _ in 0..<5 { report.show(.waiting(for: [dump])) }
        let told = notes.error
        #expect(told.split(separator: "\n").count == 1)
        #expect(told.contains("sessions is built and waits"))
        #expect(told.contains("process 4711 (postgres, pg_dump)"))
        #expect(told.contains("select pg_terminate_backend(4711)"))
        report.show(.waiting(for: [dump, .init(process: 0, user: "", application: "")]))
        #expect(notes.error.split(separator: "\n").count == 2)
        #expect(notes.error.contains("a prepared transaction"))
    }

    @Test func `a projection's report says that a lock is waited for without a holder`() {
        #expect(ProjectionReport.words("hosts", []).contains("waits for a lock on its views"))
    }
}
