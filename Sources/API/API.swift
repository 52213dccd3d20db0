internal import JSON

/// The public listener: the one table of its routes, and the document that is made from it.
public enum API {
    public static let table: [Route<AdminContext>] =
        PublicRoutes.table + RealmRoutes.table + HostRoutes.table + AppRoutes.table
        + ClientRoutes.table + SubjectRoutes.table + AdminKeyRoutes.table + EventRoutes.table
        + LogRoutes.table

    /// The bytes of `/openapi.json`.
    public static let document: [UInt8] = OpenAPI.document(
        of: table, title: "Urd", version: "0.1.0",
        description: """
            An identity backend in which the log is the state. Bodies are JSON; refusals are \
            problems (RFC 9457). Members and parameters that are not described here are refused. \
            A key that has no right to a realm gets 403 whether the realm exists or not.
            """
    ).canonical()
}
