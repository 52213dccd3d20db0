/// Scopes of the tokens that clients follow a realm's events with. An administrator gives them to each
/// client; no client gets them by registering itself.
public enum FeedScope {
    public static let read = "events.read"
    public static let all: Set<String> = [read]
}
