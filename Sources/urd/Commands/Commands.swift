/// Every command of `urd`, in the order in which help lists them.
enum Commands {
    static let all: [any Subcommand] = [
        ConfigPrint()
    ]
}

enum Version {
    static let text = "0.1.0"
}
