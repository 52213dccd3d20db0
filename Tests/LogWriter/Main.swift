import EventSourcing
import EventStore
import Glibc
import Postgres
import Synchronization
import Threads
import Values

/// A node of its own for tests: callers that append random commands to one realm, and a ledger in
/// a file that says what the log told them. It can be killed at any instant; it ends by itself
/// when its standard input closes.
///
///     LogWriter <address> <realm> <ledger> <callers> <commands> <seed>
///
/// Each caller sends so many commands; 0: until the input closes. The master key is in the
/// environment, in hexadecimal.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let realm = RealmID(arguments[2]),
            let callers = Int(arguments[4]), let commands = Int(arguments[5]),
            let seed = UInt64(arguments[6]), let key = getenv("URD_TEST_MASTER_KEY"),
            let bytes = Hex.decode(String(cString: key)), let master = MasterKey(bytes),
            let ledger = Ledger(arguments[3])
        else { exit(64) }

        let stop = Stop()
        DedicatedThread.startRequired {
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
            stop.isAsked.store(true, ordering: .relaxed)
        }
        let database = Database(arguments[1], session: PostgresLog.session)
        let log = PostgresLog(database, keyring: Keyring(database, master: master))
        await withDiscardingTaskGroup { group in
            for number in 0..<callers {
                group.addTask {
                    var caller = Caller(
                        log: log, realm: realm, ledger: ledger, stop: stop,
                        seed: seed &* 1000 &+ UInt64(number))
                    await caller.run(commands: commands == 0 ? .max : commands)
                }
            }
        }
        exit(0)
    }
}

final class Stop: Sendable {
    let isAsked = Atomic(false)
}
