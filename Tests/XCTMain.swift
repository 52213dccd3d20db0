import Testing

/// Without it the tests are looked for in an index of the sources, which takes a sixth of the build.
@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
