import API
import Telemetry
import Testing

@testable import urd

@Suite("The parts of urd dev")
struct DevelopmentTests {
    private let place = DevelopmentPlace(
        databaseURL: "postgresql://urd_app@%2Ftmp%2Fx:5432/urd",
        ownerURL: "postgresql://urd_owner@%2Ftmp%2Fx:5432/urd", masterKeyFile: "/d/master.key",
        checkpointDirectory: "/d/checkpoints", port: 8080)
    private let demo = Demo(
        realm: "demo", clientID: "app", clientSecret: "s=cr_et",
        nativeClientID: "phone", adminKey: "urd_key.x")

    @Test func `a development run believes the proxies that its settings name`() throws {
        let named = Environment(["URD_TRUSTED_PROXIES": "10.0.0.0/8"])
        let settings = try Settings(
            Dev.settings,
            from: SettingsSources(flags: [:], environment: named, readFile: { _ in nil }),
            strictly: false)
        let run = DevelopmentRun(console: .standard, settings: settings)
        let forwarding = try run.options(place, .silent).forwarding
        #expect(forwarding.trusted.map(\.description) == ["10.0.0.0/8"])
        #expect(forwarding.ports == [8080])
    }

    @Test func `dev.env can be read back`() {
        let file = DevelopmentEnvironment(
            place: place, listening: ServerAddress(port: 18080, privatePort: 5), demo: demo)
        #expect(DevelopmentEnvironment.demo(in: file.text) == demo)
        #expect(file.text.hasPrefix("URD_URL=http://127.0.0.1:18080\nURD_PRIVATE_URL="))
        #expect(DevelopmentEnvironment.demo(in: "URD_REALM=demo\n") == nil)
        #expect(DevelopmentEnvironment.privatePort(in: file.text) == 5)
        #expect(DevelopmentEnvironment.privatePort(in: "URD_PRIVATE_URL=x\n") == nil)
        let names = file.lines.map(\.name)
        let known = Settings.otherVariables.union(Settings.table.map(\.variable))
        #expect(known.isSuperset(of: names), "urd serve must not refuse what dev.env sets")
    }

    @Test(arguments: [
        ("/a/b.c", "/a/b.c"), ("two words", "'two words'"), ("it's", "'it'\\''s'"),
        ("$(rm)", "'$(rm)'"),
    ])
    func `dev.env quotes values that a shell would read otherwise`(text: String, quoted: String) {
        #expect(DevelopmentEnvironment.quoted(text) == quoted)
    }

    @Test func `a socket's folder is the host of the database's address`() {
        let cluster = Cluster(
            place: ClusterPlace(path: "/d", account: nil),
            programs: PostgresPrograms(folder: "/p", major: 15), socketFolder: "/a b/é-1_2.x",
            log: "/d/log")
        #expect(
            cluster.url("urd_app") == "postgresql://urd_app@%2Fa%20b%2F%C3%A9-1_2.x:5432/urd")
    }

    @Test func `a socket's path over the limit is refused`() {
        #expect(ClusterPlace.socketFits(in: "/" + String(repeating: "a", count: 92)))
        #expect(!ClusterPlace.socketFits(in: "/" + String(repeating: "a", count: 93)))
        #expect(!ClusterPlace.socketFits(in: "/a,b"))
        #expect(ClusterPlace.isTemporarySocketFolder("/tmp/urd-socket-abcdef"))
        #expect(!ClusterPlace.isTemporarySocketFolder("/tmp/urd-socket-abcdef/data"))
        #expect(!ClusterPlace.isTemporarySocketFolder("/home"))
    }

    @Test func `a server's own description is read`() {
        let ready = "123\n/d/data\n1700000000\n5432\n/d/socket\n\n 5432001  3\nready   \n"
        let file = PostmasterFile(ready)
        #expect(file?.process == 123)
        #expect(file?.socketFolder == "/d/socket")
        #expect(file?.isReady == true)
        #expect(PostmasterFile("123\n/d\n")?.isReady == false)
        #expect(PostmasterFile("") == nil)
        #expect(PostmasterFile("x\n") == nil)
    }

    @Test(arguments: [
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", 15),
        ("postgres (PostgreSQL) 18beta1", 18),
    ])
    func `a server's version is read`(text: String, major: Int) {
        #expect(PostgresPrograms.major(of: text) == major)
    }

    @Test func `a development run uses the requested folder`() throws {
        let given = try DevelopmentFolder(environment: Environment(["URD_DATA": "/a//b/./c/"]))
        #expect(given.path == "/a/b/c")
        let here = try Path.currentFolder()
        let relative = try DevelopmentFolder(environment: Environment(["URD_DATA": "x"]))
        #expect(relative.path == here + "/x")
    }
}

@Suite("Other programs")
struct ChildProcessTests {
    @Test func `a child process's output and end are reported`() throws {
        let echo = ChildProcess(executable: "/bin/sh", arguments: ["-c", "echo a; echo b >&2"])
        let result = try echo.run()
        #expect(result.ending.isSuccess)
        #expect(result.output == "a\nb\n")
        let failing = ChildProcess(executable: "/bin/sh", arguments: ["-c", "exit 7"])
        #expect(try failing.run().ending.code == 7)
        let dying = ChildProcess(executable: "/bin/sh", arguments: ["-c", "kill -9 $$"])
        #expect(try dying.run().ending.signal == 9)
    }

    @Test func `a child process gets none of the environment`() throws {
        let program = ChildProcess(executable: "/usr/bin/env")
        let names = try program.run().output.split(separator: "\n").map {
            $0.prefix(while: { $0 != "=" })
        }
        #expect(Set(names) == ["PATH", "LC_ALL", "LANG", "TZ"])
        let folder = ChildProcess(executable: "/bin/pwd")
        #expect(try folder.run().output == "/\n")
    }

    @Test func `a missing program is reported as missing`() throws {
        let missing = ChildProcess(executable: "/nowhere/program")
        #expect(try missing.run().ending.isSuccess == false)
    }
}
