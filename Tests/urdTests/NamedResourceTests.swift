import API
import Testing

@testable import urd

@Suite struct `The names of resources` {
    /// Things that are named by ids or sealed mail addresses, or not by the caller: no name is near to those.
    private let nameless: Set<ProblemKind> = [
        .noSuchRoute, .noSuchAccount, .noSuchSession, .noSuchMail, .noSuchNotification,
        .noSuchPushProvider, .noSuchMessageGateway, .noSuchInvite, .noSuchRegistrationToken,
        .noSuchPasskey, .noSuchEvent,
        .noSuchSubject, .noSuchCheckpoint, .noSuchProblem, .noSuchDevice, .noSuchWebhook,
        .noSuchEventType, .noSuchSignalStream, .noSuchSubscription, .noSuchFinding, .noSuchCase,
        .noSuchWhatIf, .noSuchBuild,
    ]

    @Test func `the names of resources have a list for every problem that is about a name`() {
        let listed = Set(NamedResource.all.map(\.problem))
        for kind in ProblemKind.allCases
        where kind.rawValue.hasPrefix("no-such-") {
            #expect(listed.contains(kind) != nameless.contains(kind), "\(kind)")
        }
    }

    @Test func `the names of resources are members of lists, and stand in commands`() throws {
        let operations = API.operations
        for resource in NamedResource.all {
            let list = try #require(operations.first { $0.id == resource.list })
            #expect(list.columns.contains(resource.member), "\(resource.noun)")
            #expect(!resource.isNamedByID || list.columns.contains("id"), "\(resource.noun)")
            #expect(
                resource.listCommand(in: nil) == "urd \(list.words?.joined(separator: " ") ?? "")")
            let isOfRealm = list.inputs.contains { $0.name == "realm" }
            #expect(resource.listCommand(in: "demo").hasSuffix(" --realm demo") == isOfRealm)
            #expect(
                operations.contains { operation in
                    operation.words != nil
                        && operation.inputs.contains { resource.isNamed(by: $0) }
                }, "\(resource.noun)")
        }
    }

    @Test func `the names of resources that are named by ids are offered by help`() throws {
        let show = try #require(RouteCommands.all.first { $0.form.name == "app show" })
        #expect(show.form.operands[0].summary.hasSuffix(" Its slug will do."))
        let push = try #require(
            RouteCommands.all.first { $0.form.name == "push-provider set apns" })
        let key = try #require(push.form.options.first { $0.name == "key-id" })
        #expect(!key.summary.contains("will do"))
        let invite = try #require(RouteCommands.all.first { $0.form.name == "invite create" })
        let app = try #require(invite.form.options.first { $0.name == "app-id" })
        #expect(app.summary.hasSuffix(" Its slug will do."))
    }
}
