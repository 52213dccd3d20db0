import API
import Testing

@testable import urd

@Suite struct `The operations of the admin API` {
    /// What has a command of its own, or makes no sense on a terminal.
    private let elsewhere: Set<String> = [
        "getOpenAPI", "getWelcome", "getProblemKind", "listEvents", "getEvent", "getCheckpoint",
        "getInclusionProof", "getTile",
    ]

    @Test func `are all commands as well`() {
        for operation in API.operations where !elsewhere.contains(operation.id) {
            #expect(RouteCommands.words[operation.id] != nil, "\(operation.id) has no words")
        }
    }

    @Test func `have words that name one command only`() {
        let words = RouteCommands.words.values
        #expect(Set(words).count == words.count)
        let known = Set(API.operations.map(\.id))
        for id in RouteCommands.words.keys { #expect(known.contains(id), "there is no \(id)") }
    }

    @Test func `have options that programs can name`() {
        for command in RouteCommands.all {
            let names = command.form.allOptions.map(\.name)
            #expect(Set(names).count == names.count, "\(command.form.name) has an option twice")
        }
    }
}
