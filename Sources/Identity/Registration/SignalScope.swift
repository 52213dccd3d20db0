/// Scopes of the tokens that receivers manage their streams with. An administrator gives them to each
/// client; no client gets them by registering itself.
public enum SignalScope {
    public static let read = "ssf.read"
    public static let manage = "ssf.manage"
    public static let all: Set<String> = [read, manage]
}
