// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
let wrapper = strict + [.strictMemorySafety()]

/// What everything else runs on, event by event and byte by byte, is optimized in builds for debugging too: tests are over in
/// half the time. Their assertions are not checked there, their preconditions are.
let hot: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What `urd --version` says of its commit, where the build is told. A variable and not `Context.gitInformation`:
/// SwiftPM keeps what a manifest said, so that the next commit's binary would name this one.
let commit = Context.environment["BUILD_COMMIT"].map {
    CSetting.define("BUILD_COMMIT", to: "\"\($0)\"")
}

/// A module of ours: what it may import is exactly what stands here.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = strict
) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// The tests of one module, and what else they need to stand it up.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let package = Package(
    name: "urd",
    products: [
        .executable(name: "urd", targets: ["urd"]),
        .library(name: "UrdClient", targets: ["UrdClient"]),
    ],
    targets: [
        // C libraries: a module map and a shim, nothing else.
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CCBOR", pkgConfig: "libcbor"),
        .systemLibrary(name: "CFIDO2", pkgConfig: "libfido2"),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1"),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt"),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2"),

        // Of C because a Swift setting has no value: compiled anew alone when the commit is another.
        .target(name: "CBuild", cSettings: commit.map { [$0] } ?? []),

        // Of C++ because libphonenumber has no interface for C.
        .target(
            name: "CPhoneNumber",
            linkerSettings: [.linkedLibrary("phonenumber"), .linkedLibrary("protobuf")]),

        // Of C because libxmlsec1 and libxml2 are macros for the most part. Their headers are not where compilers look;
        // `system` has links to them, because SwiftPM complains at each build of what else pkg-config says.
        .target(
            name: "CXMLSec", exclude: ["system"], cSettings: [.headerSearchPath("system")],
            linkerSettings: [
                .linkedLibrary("xmlsec1-openssl"), .linkedLibrary("xmlsec1"),
                .linkedLibrary("xml2"), .linkedLibrary("crypto"),
            ]),

        // Of C because libmaxminddb is unions and variadic functions for the most part.
        .target(name: "CMaxMind", linkerSettings: [.linkedLibrary("maxminddb")]),

        // The pure ring: no I/O, no Foundation, no C.
        module("Values", settings: strict + hot),
        module("JSON", settings: strict + hot),
        module("HTTP", ["Values"], settings: strict + hot),
        module("HTML"),
        module("Mail", ["Values", "HTTP", "HTML"]),
        module("EventSourcing", ["Values", "JSON"], settings: strict + hot),
        module("Identity", ["Values", "JSON", "EventSourcing"]),
        module("Laws", ["Values", "JSON"], settings: strict + hot),
        module("Telemetry", ["Values", "JSON"], settings: strict + hot),

        // Threads for work that blocks: what the wrappers run on.
        module("Threads", settings: wrapper + hot),

        // Wrappers: the only modules that import a C module; they know nothing of Urd.
        module("Postgres", ["CPostgres", "Threads"], settings: wrapper + hot),
        module("Cryptography", ["COpenSSL"], settings: wrapper + hot),
        module("HTTPServer", ["CMicroHTTPD", "HTTP", "Threads"], settings: wrapper),
        module("HTTPClient", ["CCurl", "HTTP", "Threads"], settings: wrapper),
        module("Systemd", ["CSystemd"], settings: wrapper),
        module("SecurityKeys", ["CCBOR", "Values", "JSON", "Cryptography"], settings: wrapper),
        module("QRCode", ["CQREncode"], settings: wrapper),
        module("Compression", ["CZlib"], settings: wrapper),
        module("YAML", ["CYAML", "JSON"], settings: wrapper),
        module("PhoneNumbers", ["CPhoneNumber"], settings: wrapper),
        module("MaxMind", ["CMaxMind"], settings: wrapper),
        module("SAML", ["CXMLSec", "Values", "Cryptography"], settings: wrapper),
        module(
            "ForeignHashes", ["CCrypt", "CArgon2", "Values", "Cryptography"], settings: wrapper),

        // What is signed and what is typed in: values over the wrapper of OpenSSL.
        module("JOSE", ["Values", "JSON", "Cryptography"]),
        module("OneTimeCodes", ["Values", "HTTP", "Cryptography"]),

        // The log, the read models and the adapter.
        module(
            "EventStore",
            [
                "Values", "JSON", "EventSourcing", "Laws", "Telemetry", "Threads", "Postgres",
                "Cryptography",
            ],
            resources: [.embedInCode("Schema")], settings: strict + hot),
        module(
            "ReadModels",
            [
                "Values", "JSON", "EventSourcing", "Identity", "Telemetry", "Threads",
                "Postgres", "EventStore",
            ],
            resources: [.embedInCode("Projections")]),
        module(
            "API",
            [
                "Values", "JSON", "HTTP", "EventSourcing", "Identity", "Telemetry", "Compression",
                "Cryptography", "ForeignHashes", "HTML", "JOSE", "Mail", "OneTimeCodes",
                "PhoneNumbers", "QRCode", "ReadModels", "SAML",
                "SecurityKeys",
            ]),
        .executableTarget(
            name: "urd",
            dependencies: [
                "Values", "JSON", "HTTP", "EventSourcing", "Identity", "Laws", "Telemetry",
                "Postgres", "Cryptography", "ForeignHashes", "JOSE", "HTTPServer", "HTTPClient",
                "Systemd", "Mail",
                "EventStore", "ReadModels", "API", "SecurityKeys", "Threads", "CBuild", "MaxMind",
                "YAML",
            ],
            swiftSettings: strict,
            // Takes the place of the C library's allocator: decision 0024.
            linkerSettings: [.linkedLibrary("mimalloc")]),

        // For apps: the toolchain and nothing else.
        module("UrdClient"),

        tests("UrdClient", ["UrdClient"]),
        tests("Values", ["Values"]),
        tests("JSON", ["JSON"]),
        tests("YAML", ["YAML", "JSON"]),
        tests("HTTP", ["HTTP"]),
        .target(
            name: "LogTesting", dependencies: ["EventSourcing", "Values", "JSON"],
            path: "Tests/LogTesting", swiftSettings: strict),
        tests("EventSourcing", ["EventSourcing", "Values", "JSON", "LogTesting"]),
        .testTarget(
            name: "IdentityTests",
            dependencies: ["Identity", "EventSourcing", "Values", "JSON", "LogTesting"],
            resources: [.embedInCode("golden")], swiftSettings: strict),
        tests("Telemetry", ["Telemetry", "Values", "JSON"]),
        tests("Cryptography", ["Cryptography"]),
        tests("HTTPServer", ["HTTPServer", "HTTP"]),
        tests("HTML", ["HTML"]),
        tests("Mail", ["Mail", "Values"]),
        .executableTarget(
            name: "MailSender", dependencies: ["HTTPClient", "Mail", "JSON", "Values"],
            path: "Tests/MailSender", swiftSettings: strict),
        .executableTarget(
            name: "NativeApp",
            dependencies: [
                "UrdClient", "SecurityKeysTesting", "Cryptography", "JSON", "Values",
            ],
            path: "Tests/NativeApp", swiftSettings: strict),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "HTTP"], exclude: ["servers"],
            swiftSettings: strict),
        tests("Systemd", ["Systemd"]),
        .target(
            name: "SecurityKeysTesting",
            dependencies: ["SecurityKeys", "Cryptography", "Values", "JSON"],
            path: "Tests/SecurityKeysTesting", swiftSettings: strict),
        .testTarget(
            name: "SecurityKeysTests",
            dependencies: [
                "SecurityKeys", "Cryptography", "Values", "JSON", "CFIDO2", "SecurityKeysTesting",
            ],
            resources: [.embedInCode("vectors")], swiftSettings: strict),
        tests("QRCode", ["QRCode"]),
        tests("Compression", ["Compression"]),
        tests("PhoneNumbers", ["PhoneNumbers"]),
        tests("MaxMind", ["MaxMind"]),
        tests("SAML", ["SAML", "Values", "JSON"], exclude: ["forge.py"]),
        tests(
            "ForeignHashes", ["ForeignHashes", "Cryptography"], exclude: ["hashes.py"]),
        tests("JOSE", ["JOSE", "Values", "JSON", "Cryptography"]),
        tests("OneTimeCodes", ["OneTimeCodes", "Values", "Cryptography"]),
        .executableTarget(
            name: "TokenTool",
            dependencies: [
                "JOSE", "OneTimeCodes", "QRCode", "Values", "JSON", "Cryptography",
            ],
            path: "Tests/TokenTool", swiftSettings: strict),
        .executableTarget(
            name: "LawTool", dependencies: ["Laws", "EventStore", "JSON", "Values"],
            path: "Tests/LawTool", swiftSettings: strict),
        tests("Laws", ["Laws", "Values"]),
        tests(
            "urd",
            [
                "urd", "API", "Values", "JSON", "HTTP", "EventSourcing", "EventStore", "Identity",
                "Telemetry", "Cryptography", "HTTPClient", "ReadModels", "Postgres",
                "PostgresTesting", "Threads", "YAML",
            ]),
        .target(
            name: "PostgresTesting", dependencies: ["EventStore", "Postgres", "Threads"],
            path: "Tests/PostgresTesting", swiftSettings: strict),
        .executableTarget(
            name: "LogWriter",
            dependencies: [
                "EventStore", "EventSourcing", "Postgres", "Values", "JSON", "Threads",
            ],
            path: "Tests/LogWriter", swiftSettings: strict),
        .executableTarget(
            name: "urd-bench",
            dependencies: [
                "Values", "JSON", "HTTP", "EventSourcing", "Telemetry", "Postgres", "Cryptography",
                "HTTPServer", "HTTPClient", "EventStore", "ReadModels", "PostgresTesting",
                "Identity", "JOSE", "SecurityKeys", "Threads",
            ],
            path: "Tests/Benchmarks", swiftSettings: strict),
        tests("Postgres", ["Postgres", "PostgresTesting"]),
        tests(
            "EventStore",
            [
                "EventStore", "EventSourcing", "Postgres", "Cryptography", "Telemetry", "Values",
                "JSON", "LogTesting", "PostgresTesting", "LogWriter", "Threads",
            ]),
        tests(
            "Tamper",
            [
                "EventStore", "EventSourcing", "Laws", "Postgres", "Cryptography", "Telemetry",
                "Values", "JSON", "PostgresTesting",
            ]),
        tests(
            "ReadModels",
            [
                "ReadModels", "Identity", "EventStore", "EventSourcing", "Postgres", "Telemetry",
                "Values", "JSON", "LogTesting", "PostgresTesting", "Threads",
            ]),
        tests(
            "API",
            [
                "API", "HTTP", "Identity", "EventStore", "EventSourcing", "Cryptography", "JOSE",
                "Mail",
                "OneTimeCodes", "Postgres", "QRCode", "ReadModels", "Telemetry", "Values", "JSON",
                "LogTesting", "SecurityKeys", "SecurityKeysTesting",
            ], exclude: ["golden"]),
        tests("Tidy", []),
    ],
    cxxLanguageStandard: .cxx17
)
