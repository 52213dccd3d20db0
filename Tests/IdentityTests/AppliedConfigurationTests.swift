import EventSourcing
import Identity
import LogTesting
import Testing

@Suite struct `A configuration that was applied` {
    private let file = String(repeating: "0a", count: 32)

    @Test func `which file was applied, and by whom, is on record`() async throws {
        let applied = ConfigurationEvent.applied(file: file, by: "operator:ann", changes: 3)
        try await givenRealm().when(
            AppliedConfigurationChange.record(file: file, by: "operator:ann", changes: 3)
        )
        .then(applied, in: AppliedConfiguration.stream)
        var state = AppliedConfiguration()
        state.apply(applied)
        #expect(state.file == file)
        #expect(state.administrator == "operator:ann")
    }

    @Test func `a disabled realm is brought in line with nothing`() async throws {
        try await givenDisabledRealm().when(
            AppliedConfigurationChange.record(file: file, by: "operator:ann", changes: 3)
        ).thenRejected(.realmDisabled)
    }
}
