internal import EventSourcing
public import HTTP
internal import JSON
import Synchronization

/// A request that has found its route, was let in, and whose parameters and body keep to what the
/// route says of them.
public final class Call<Context: RouteContext>: Sendable {
    public let request: Request
    public let context: Context
    public let caller: Context.Caller
    let outline: Outline
    /// What the caller showed of itself, where the route asks for a client.
    let client: ClientCredentials?
    /// By name, wherever in the request they are.
    let parameters: JSONObject
    let body: JSON
    /// What was counted for the targets of this request.
    let charges = Mutex<[(policy: RatePolicy, target: String)]>([])

    init(
        request: Request, context: Context, caller: Context.Caller, outline: Outline,
        client: ClientCredentials?, parameters: JSONObject, body: JSON
    ) {
        self.request = request
        self.context = context
        self.caller = caller
        self.outline = outline
        self.client = client
        self.parameters = parameters
        self.body = body
    }

    func text(_ name: String) -> String? { parameters[name]?.string }

    func integer(_ name: String) -> Int64? { parameters[name]?.integer }

    /// A parameter that the route declares as required. Its absence is ours to answer for.
    func required(_ name: String) throws(Problem) -> String {
        guard let text = text(name) else { throw Problem(.internalError) }
        return text
    }

    var realm: RealmID {
        get throws(Problem) {
            guard let realm = RealmID(try required("realm")) else {
                throw Problem(.internalError)
            }
            return realm
        }
    }
}

extension Response {
    static func json(_ status: Status, _ value: JSON) -> Response {
        var response = Response(status: status, headers: Headers(), body: value.canonical())
        response.headers["Content-Type"] = "application/json"
        return response
    }

    static func text(_ status: Status, _ type: String, _ text: String) -> Response {
        var response = Response(status: status, headers: Headers(), body: Array(text.utf8))
        response.headers["Content-Type"] = type
        return response
    }

    static func bytes(_ status: Status, _ bytes: [UInt8]) -> Response {
        var response = Response(status: status, headers: Headers(), body: bytes)
        response.headers["Content-Type"] = "application/octet-stream"
        return response
    }
}
