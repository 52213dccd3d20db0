// swift-tools-version: 6.2
import PackageDescription

// Fuzzers stand in a package of their own, because everything in it is built for libFuzzer. The
// modules are links to the real ones, and the properties are those of the ordinary tests.
let instrumented: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
]

func fuzzer(_ name: String, _ modules: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: modules, swiftSettings: instrumented)
}

let package = Package(
    name: "fuzz",
    targets: [
        .target(name: "Values", swiftSettings: instrumented),
        .target(name: "JSON", swiftSettings: instrumented),
        .target(name: "HTTP", dependencies: ["Values"], swiftSettings: instrumented),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CCBOR", pkgConfig: "libcbor"),
        .target(
            name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: instrumented),
        .target(
            name: "SecurityKeys", dependencies: ["CCBOR", "Values", "JSON", "Cryptography"],
            swiftSettings: instrumented),
        .target(
            name: "JOSE", dependencies: ["Values", "JSON", "Cryptography"],
            swiftSettings: instrumented),
        .executableTarget(
            name: "token", dependencies: ["JOSE", "Values", "JSON"], swiftSettings: instrumented),
        .target(name: "HTML", swiftSettings: instrumented),
        .target(
            name: "Mail", dependencies: ["Values", "HTTP", "HTML"], swiftSettings: instrumented),
        fuzzer("json", "JSON"),
        fuzzer("canonical", "JSON"),
        fuzzer("form", "HTTP"),
        fuzzer("url", "HTTP"),
        fuzzer("headers", "HTTP"),
        fuzzer("base64url", "Values"),
        fuzzer("text", "Values"),
        fuzzer("address", "Mail", "Values"),
        fuzzer("message", "Mail", "Values"),
        .executableTarget(
            name: "webauthn", dependencies: ["SecurityKeys", "Cryptography", "Values", "JSON"],
            swiftSettings: instrumented),
    ]
)
