import Synchronization
import Telemetry
import Testing
import Values

@testable import API
@testable import urd

@Suite struct `The mail carrier` {
    @Test func `a failed mail's reason is the same in the log as in the list of mails`()
        async throws
    {
        let lines = Lines()
        let settings = try Settings(
            Settings.mailing,
            from: SettingsSources(
                flags: [
                    "smtp-host": ["127.0.0.1"], "smtp-port": ["1"], "smtp-security": ["none"],
                ]))
        let log = Log(sink: Log.Sink { line, _ in lines.add(line) })
        let carrier = try #require(try SMTPCarrier(settings, log))
        _ = await carrier.carry(.sample(to: "ann@example.org"), as: .zero)
        #expect(lines.text.contains(#""event":"mail.not_taken""#))
        #expect(lines.text.contains(#""reason":"not_connected""#))
    }
}

private final class Lines: Sendable {
    private let kept = Mutex<[UInt8]>([])

    var text: String { String(decoding: kept.withLock { $0 }, as: UTF8.self) }

    func add(_ line: [UInt8]) { kept.withLock { $0 += line } }
}
