import Glibc

/// Another program, started without a shell.
struct ChildProcess: Sendable {
    var executable: String
    var arguments: [String] = []
    /// Nothing of ours is handed on: PG… variables of the caller would change what PostgreSQL does.
    var environment = [
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "LANG=C", "TZ=UTC",
    ]
    var folder = "/"
    /// The user that runs the process; nil for the current user.
    var account: Account?
    /// Sent to it by the kernel when we die, however we die.
    var signalWhenWeDie: String?
    /// Where its output goes; nowhere when nil.
    var output: Int32?
    /// Where it writes errors; with its output when nil.
    var errors: Int32?
    /// The descriptor of the standard input; nil for no input.
    var input: Int32?

    struct Ending: Equatable, Sendable {
        /// Its exit code; nil when a signal ended it.
        let code: Int32?
        let signal: Int32?

        init(status: Int32) {
            let number = status & 0x7F
            code = number == 0 ? (status >> 8) & 0xFF : nil
            signal = number == 0 ? nil : number
        }

        var isSuccess: Bool { code == 0 }

        var description: String {
            if let code { return "exit code \(code)" }
            return "signal \(signal ?? 0)"
        }
    }

    /// Starts the process. It is in a process group of its own, so that Ctrl-C in the terminal reaches us
    /// alone and we stop things in order.
    ///
    /// With `signalWhenWeDie` the thread that calls this must live as long as the child: for the
    /// kernel that thread is the parent.
    func start() throws(SystemFailure) -> pid_t {
        let words = prefix + [executable] + arguments
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, errors ?? output, STDERR_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What we block or ignore is our business.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var process: pid_t = 0
        let code = Self.withWords(words) { argv in
            Self.withWords(environment) { envp in
                posix_spawn(&process, words[0], &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw SystemFailure("start", words[0], code: code) }
        return process
    }

    /// Small programs of coreutils and util-linux that set something up and then become the next:
    /// the process keeps its number. `env` leaves our folder, which the other user may not be able
    /// to see; `setpriv` changes the user and asks the kernel for the signal.
    private var prefix: [String] {
        var words = ["/usr/bin/env", "-C", folder]
        let setpriv = "/usr/bin/setpriv"
        // Without it a normal user can still run the program, only not be followed into death.
        if account != nil || (signalWhenWeDie != nil && File.isExecutable(setpriv)) {
            words.append(setpriv)
            if let account {
                words += ["--reuid=\(account.user)", "--regid=\(account.group)", "--clear-groups"]
            }
            if let signalWhenWeDie { words.append("--pdeathsig=\(signalWhenWeDie)") }
            words.append("--")
        }
        return words
    }

    static func wait(for process: pid_t) -> Ending {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            // Another thread reaped it: nothing is known, and nothing is left to wait for.
            if errno != EINTR { return Ending(status: 255 << 8) }
        }
        return Ending(status: status)
    }

    /// Runs it to its end; blocks, so it belongs on a thread of its own.
    func run() throws(SystemFailure) -> (ending: Ending, output: String) {
        // Not a pipe: a pair of sockets is closed in other children from its very begin.
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFailure("open", "a pair of sockets")
        }
        defer { close(ends[0]) }
        var child = self
        child.output = ends[1]
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try child.start()
        }
        let text = (try? Descriptor.readAll(ends[0], executable)) ?? []
        return (Self.wait(for: process), String(decoding: text, as: UTF8.self))
    }

    private static func withWords<Value>(
        _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}
