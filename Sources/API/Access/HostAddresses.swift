/// The address of a host that a realm has, where no setting says another one. It says the same on every node: it depends on
/// the host alone, but on a development server.
public typealias HostAddress = @Sendable (_ host: String) -> String

public enum HostAddresses {
    public static let secure: HostAddress = { "https://\($0)" }
}
